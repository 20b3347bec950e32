package doctor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/run"
	"filewise/run/plan"
)

// Record holds the parts of a whole self-check that may be sent to others. It has no names, addresses or values, no
// throughput, and no amounts of work.
type Record struct {
	Format   int       `json:"format"`
	Engine   string    `json:"engine"`
	Version  string    `json:"version"` // of the server, digits only. Empty means not known
	Outcomes []Outcome `json:"outcomes"`
	Refused  []Refused `json:"refused,omitempty"`
	Counters []string  `json:"counters,omitempty"` // that were seen: "waits: PAGELATCH_UP"
}

// recordFormat is the version of the record's format.
const recordFormat = 1

// Outcome is the result for one claim of the adapter.
type Outcome struct {
	Claim string `json:"claim"`
	State State  `json:"state"`
	At    string `json:"at,omitempty"` // the stage in which it failed, or "time". Empty means elsewhere
	// Took maps the name of each stage to the class of its longest duration: "< 1 s".
	Took map[string]string `json:"took,omitempty"`
}

// State is a claim's result.
type State string

// The states of a claim.
const (
	StateProven  State = "proven"
	StateFailed  State = "failed"
	StateAbsent  State = "not offered" // by the server, or not to the account
	StateUntried State = "not tried"
)

var states = []State{StateProven, StateFailed, StateAbsent, StateUntried}

// Refused is a statement that the server refused while a claim was tried. An empty claim means before or after all
// claims.
type Refused struct {
	Claim string `json:"claim,omitempty"`
	filewise.Refusal
}

// The claims that all trials prove together.
const (
	claimFacts    = "facts are read"
	claimActivity = "activity of others is read"
	claimLock     = "the measuring lock is taken, and refused to another"
	claimMark     = "what is built is found again by its mark, and kept while it is used"
	claimNothing  = "nothing is left"
	claimWaits    = "waits are counted"
	claimFiles    = "I/O of files is counted"
)

var common = []string{claimFacts, claimActivity, claimLock, claimMark, claimNothing, claimWaits, claimFiles}

// Claims returns the adapter's claims about a server given by URL. A whole self-check tries them on such a server.
func Claims(e filewise.Engine) []string {
	about, all := e.Describe(), slices.Clone(common)
	for _, t := range trials(about) {
		o := plan.New()
		o.Engine, o.Target = plan.Of(e.Name()), plan.Of(about.Schemes[0]+"://filewise@db.example/x")
		t.set(o)
		made, err := plan.Engines{e}.Make(o)
		if err == nil {
			_, err = run.Prepare(e, made.Plan)
		}
		if !errors.Is(err, filewise.ErrUnsupported) {
			all = append(all, t.name)
		}
	}
	return all
}

// stageTime is the recorded stage if the self-check, or one of its trials, exceeds its time.
const stageTime = "time"

var durations = []string{"< 1 s", "< 10 s", "< 60 s", "60 s and more"}

// longer returns the class of a duration, from 0 for less than a second to 3 for a minute or more.
func longer(took time.Duration) (class int) {
	for _, limit := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		if took >= limit {
			class++
		}
	}
	return class
}

// JSON returns the record as the text of its file.
func (r Record) JSON() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		panic(err) // it holds only texts and numbers
	}
	return b.String()
}

// The limits of a record that is read.
const (
	mostRecord   = 1 << 20 // bytes
	mostOutcomes = 200
	mostRefused  = 500
	mostCounters = 5000
	mostText     = 2000 // bytes of a text
)

// ReadRecord reads a record that another user has sent. Its error has code usage, and names the fault.
func ReadRecord(in io.Reader) (r Record, err error) {
	wrong := func(format string, args ...any) (Record, error) {
		return Record{}, filewise.Errorf(filewise.CodeUsage, "name a file that \"filewise doctor --self-check --all\" has written, whole",
			format, args...)
	}
	b, err := io.ReadAll(io.LimitReader(in, mostRecord+1))
	if err != nil {
		return wrong("reading it: %w", err)
	}
	if len(b) > mostRecord {
		return wrong("it has more than 1 MiB")
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return wrong("it is no self-check of Filewise: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return wrong("something stands behind the self-check")
	}
	if r.Format != recordFormat {
		return wrong("it has format %d, and this Filewise reads %d", r.Format, recordFormat)
	}
	if why := r.odd(); why != "" {
		return wrong("%s", why)
	}
	return r, nil
}

var (
	plainText = regexp.MustCompile(`^[\x20-\x7e…]*$`)
	engineIs  = regexp.MustCompile(`^[a-z]{1,20}$`)
	versionIs = regexp.MustCompile(`^(?:[0-9]{1,9}(?:\.[0-9]{1,9}){1,6})?$`)
)

// odd returns why Filewise cannot have written the record. It is empty if Filewise may have written it.
func (r Record) odd() string {
	texts := slices.Clone(r.Counters)
	seen := map[string]bool{}
	for _, o := range r.Outcomes {
		texts = append(texts, o.Claim, o.At)
		if !slices.Contains(states, o.State) || seen[o.Claim] || len(o.Took) > len(filewise.Stages) {
			return fmt.Sprintf("claim %.100q has no one outcome", o.Claim)
		}
		seen[o.Claim] = true
		for name, class := range o.Took {
			texts = append(texts, name)
			if !slices.Contains(durations, class) {
				return fmt.Sprintf("%.100q is no class of durations", class)
			}
		}
	}
	for _, x := range r.Refused {
		texts = append(texts, x.Claim, x.Statement, x.Code)
	}
	for _, t := range texts {
		if len(t) > mostText || !plainText.MatchString(t) {
			return fmt.Sprintf("%.100q is no text of a self-check", t)
		}
	}
	switch {
	case !engineIs.MatchString(r.Engine), !versionIs.MatchString(r.Version):
		return fmt.Sprintf("%.100q %.100q is no engine and version", r.Engine, r.Version)
	case len(r.Outcomes) > mostOutcomes, len(r.Refused) > mostRefused, len(r.Counters) > mostCounters:
		return "it has more outcomes, refusals or counters than a self-check has"
	}
	return ""
}

// of returns the given claims that are in a state.
func (r Record) of(s State, claims []string) (out []string) {
	for _, o := range r.Outcomes {
		if o.State == s && slices.Contains(claims, o.Claim) {
			out = append(out, o.Claim)
		}
	}
	return out
}

// Reading holds what a record proves for an adapter.
type Reading struct {
	Engine  string   `json:"engine"`
	Version string   `json:"version,omitempty"`
	Proven  []string `json:"proven"` // on the record's version
	Failed  []string `json:"failed,omitempty"`
	Open    []string `json:"open,omitempty"` // not offered, not tried, or unknown to the record
	absent  []string // of Open, not offered
	// Proof is the line for the table of proofs. It is empty if nothing is proven.
	Proof   string    `json:"proof,omitempty"`
	Refused []Refused `json:"refused,omitempty"`
}

// Read returns the claims of an engine's adapter that a record proves.
func (r Record) Read(e filewise.Engine) Reading { return r.read(Claims(e)) }

func (r Record) read(claims []string) Reading {
	out := Reading{Engine: r.Engine, Version: r.Version, Proven: r.of(StateProven, claims), Failed: r.of(StateFailed, claims),
		absent: r.of(StateAbsent, claims), Refused: r.Refused}
	for _, c := range claims {
		if !slices.Contains(out.Proven, c) && !slices.Contains(out.Failed, c) {
			out.Open = append(out.Open, c)
		}
	}
	if r.Version == "" {
		out.Open, out.Proven = append(out.Open, out.Proven...), nil // the version that they would be proven on is not known
	}
	if len(out.Proven) > 0 {
		out.Proof = proof{r.Engine, r.Version, out.Proven}.line()
	}
	return out
}

// Text returns the reading for people.
func (r Reading) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Self-check of %s %s: %d of %s proven on that version.\n", r.Engine, cmp.Or(r.Version, "(unknown version)"), len(r.Proven),
		filewise.Counted(len(r.Proven)+len(r.Failed)+len(r.Open), "claim"))
	for _, list := range []struct {
		word   string
		claims []string
	}{{"proven", r.Proven}, {"failed", r.Failed}, {"open", r.Open}} {
		for _, c := range list.claims {
			word := list.word
			if slices.Contains(r.absent, c) {
				word = string(StateAbsent)
			}
			fmt.Fprintf(&b, "  %-11s %s\n", word, c)
		}
	}
	if len(r.Refused) > 0 {
		fmt.Fprintf(&b, "\nRefused by the server\n")
	}
	for _, x := range r.Refused {
		fmt.Fprintf(&b, "  %-8s %s\n           %s\n", x.Code, x.Claim, x.Statement)
	}
	if r.Proof != "" {
		fmt.Fprintf(&b, "\nThe line for run/doctor/proofs.csv\n%s", r.Proof)
	}
	return b.String()
}
