package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"go.temporal.io/api/serviceerror"

	"filewise"
	"filewise/results/store"
)

// Fetched holds a job's results.
type Fetched struct {
	State
	Here  int64 `json:"here"`         // number of the run in this store. 0 means nothing yet
	Added int   `json:"trials_added"` // 0 means all trials were here
}

// Fetch stores the bundles of jobs, each once however often it is called. A bundle that cannot be fetched does not
// stop the others.
func (c Campaigns) Fetch(ctx context.Context, jobs []string, into *store.Store) (out []Fetched, err error) {
	all, err := c.States(ctx, jobs)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, s := range all {
		f, err := c.fetched(ctx, s, into)
		out, errs = append(out, f), append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return out, errors.Join(errs...)
}

func (c Campaigns) fetched(ctx context.Context, s State, into *store.Store) (f Fetched, err error) {
	f.State = s
	for again := false; f.Bundle.Parts > 0; again = true {
		f.Here, f.Added, err = c.fetch(ctx, f.State, into)
		var other *serviceerror.QueryFailed // a new history has no parts yet
		if again || !errors.Is(err, errDamaged) && !errors.As(err, &other) {
			break
		}
		if f.State, err = c.state(ctx, s.id()); err != nil { // or more has come since
			break
		}
	}
	return f, err
}

var errDamaged = errors.New("it is damaged: it does not match its check sum")

func (c Campaigns) fetch(ctx context.Context, s State, into *store.Store) (id int64, added int, err error) {
	if s.Bundle.Parts > mostParts {
		return 0, 0, filewise.Errorf(filewise.CodeStore, "see with filewise campaign show who has written that", "the bundle of %s is stated to "+
			"have %d parts, and none has more than %d", s.id(), s.Bundle.Parts, mostParts)
	}
	var bundle []byte
	for i := range s.Bundle.Parts {
		var part []byte
		e, err := c.ask(ctx, s.id(), queryPart, &part, i)
		if err != nil {
			return 0, 0, err
		}
		if e != nil {
			bundle = bytes.Join(e.parts, nil)
			break
		}
		bundle = append(bundle, part...)
	}
	if sum := sha256.Sum256(bundle); hex.EncodeToString(sum[:]) != s.Bundle.SHA256 {
		return 0, 0, filewise.Errorf(filewise.CodeStore, "fetch it again", "the bundle of %s: %w", s.id(), errDamaged)
	}
	m, run, trials, err := store.ReadBundle(bytes.NewReader(bundle))
	if err != nil {
		return 0, 0, err
	}
	return into.Import(ctx, m, run, trials)
}
