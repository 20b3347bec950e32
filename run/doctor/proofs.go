package doctor

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"sync"

	"filewise"
	"filewise/run/plan"
)

//go:embed proofs.csv
var proofsText string

// proof lists what has been run against a version of a product, and held.
type proof struct {
	Engine, Version string
	Claims          []string // or suite alone
}

// suite is every test of the engine, on a real server.
const suite = "suite"

var proofs = sync.OnceValue(func() []proof { return readProofs(proofsText) })

func readProofs(text string) (all []proof) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(err) // embedded: the programmer's
	}
	for _, r := range rows[1:] {
		all = append(all, proof{r[0], r[1], strings.Split(r[2], ";")})
	}
	return all
}

// line returns the proof as the table has it.
func (p proof) line() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{p.Engine, p.Version, strings.Join(p.Claims, ";")}) // to a builder
	w.Flush()
	return b.String()
}

// StateOf describes an engine's proven part, by the table of proofs.
func StateOf(e filewise.Engine) string {
	about := plan.Describe(e)
	if about.Unproven != "" {
		return about.Unproven + "; proven on the product: " + Proven(e)
	}
	var versions []string
	for _, p := range proofs() {
		if p.Engine == e.Name() && p.Version != "" {
			versions = append(versions, p.Version)
		}
	}
	if len(versions) == 0 {
		return "tested"
	}
	return "tested on " + strings.Join(versions, " and ")
}

// Proven reports which versions of an unproven engine's product have been tried, and how much of the adapter.
func Proven(e filewise.Engine) string {
	var tried []string
	for _, p := range proofs() {
		if p.Engine == e.Name() {
			tried = append(tried, fmt.Sprintf("%s (%d of %d claims)", p.Version, len(p.Claims), len(Claims(e))))
		}
	}
	if len(tried) == 0 {
		return "none yet"
	}
	return strings.Join(tried, ", ")
}

// ClaimTable has each claim of an unproven engine's adapter, and the versions on which it is proven, in Markdown.
func ClaimTable(e filewise.Engine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| claim on %s | proven on |\n|---|---|\n", e.Name())
	for _, c := range Claims(e) {
		var on []string
		for _, p := range proofs() {
			if p.Engine == e.Name() && slices.Contains(p.Claims, c) {
				on = append(on, p.Version)
			}
		}
		if on == nil {
			on = []string{"none yet"}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c, strings.Join(on, ", "))
	}
	return b.String()
}
