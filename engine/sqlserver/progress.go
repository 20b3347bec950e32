package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
)

// Messages of BACKUP and RESTORE (sys.messages).
const (
	infoPercent = 3211 // "10 percent processed."
	infoDone    = 3014 // "BACKUP DATABASE successfully processed 330 pages in 0.1 seconds (25.0 MB/sec)."
)

var firstNumber = regexp.MustCompile(`\d+`)

// told gathers what a long statement says while it runs.
type told struct {
	progress func(percent int)
	summary  string
	errors   []mssql.Error
	others   []error // not the server's: the connection
}

// long executes a BACKUP or RESTORE on a connection of its own, which is closed
// afterwards: it may have been cancelled. Its messages are read to the end, since
// closing early would abort it; every error that the server sent is shown, since
// the last is only the generic one (3013).
func (s *externalServer) long(ctx context.Context, statement string, progress func(percent int)) (summary string, err error) {
	pool := s.login.pool("master", appName, 1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	t := &told{progress: progress}
	if err := t.run(ctx, pool, statement); err != nil {
		return t.summary, s.login.explain(fmt.Errorf("%s: %w", short(statement), err))
	}
	return t.summary, nil
}

// run reads results and messages at the same time: the driver keeps 15 messages and
// then waits for a reader, while NextResultSet waits for the driver, so that in
// turns, as the driver's own example reads, both would wait for ever.
func (t *told) run(ctx context.Context, on executor, statement string) error {
	messages := &sqlexp.ReturnMessage{}
	rows, err := on.QueryContext(ctx, statement, messages) //nolint:sqlclosecheck // it is, below; the goroutine hides that
	if err != nil {
		return err
	}
	defer rows.Close() // twice is harmless
	waiting, drained := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer drained()
		for rows.NextResultSet() { // rows that nobody asked for are read over
			continue
		}
	}()
	for waiting.Err() == nil {
		t.take(messages.Message(waiting))
	}
	<-ended
	closed := errors.Join(rows.Err(), rows.Close())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t.rest(messages)
	return t.err(closed)
}

// rest takes what was queued when the last result had been read.
func (t *told) rest(messages *sqlexp.ReturnMessage) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		t.take(messages.Message(ctx))
		over := ctx.Err() != nil
		cancel()
		if over {
			return
		}
	}
}

func (t *told) take(message any) {
	switch m := message.(type) {
	case sqlexp.MsgNotice:
		t.notice(m.Message)
	case sqlexp.MsgError:
		t.failure(m.Error)
	}
}

func (t *told) notice(m fmt.Stringer) {
	info, ok := m.(mssql.Error)
	if !ok {
		return
	}
	switch info.Number {
	case infoPercent:
		if n, err := strconv.Atoi(firstNumber.FindString(info.Message)); err == nil && n <= 100 && t.progress != nil {
			t.progress(n)
		}
	case infoDone:
		t.summary = info.Message
	}
}

func (t *told) failure(err error) {
	var e mssql.Error
	if errors.As(err, &e) {
		t.errors = append(t.errors, e)
		return
	}
	t.others = append(t.others, err)
}

// err is all that went wrong, first to last.
func (t *told) err(closed error) error {
	others := errors.Join(t.others...)
	if len(t.errors) == 0 {
		return errors.Join(others, closed)
	}
	var texts []string
	for _, e := range t.errors {
		texts = append(texts, fmt.Sprintf("%s (%d)", strings.TrimSuffix(e.Message, "."), e.Number))
	}
	last := t.errors[len(t.errors)-1]
	last.All = t.errors
	return errors.Join(&allErrors{strings.Join(texts, "; "), last}, others)
}

// allErrors shows every error of one answer.
type allErrors struct {
	text string
	last mssql.Error
}

func (a *allErrors) Error() string { return a.text }
func (a *allErrors) Unwrap() error { return a.last }

// unsupportedCompression: Express cannot compress backups.
func (s *externalServer) unsupportedCompression() error {
	return filewise.Errorf(filewise.CodeUsage, "leave compression off", "%s does not compress backups: %w", s.identity.edition, filewise.ErrUnsupported)
}
