package doctor

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"sync"

	"filewise"
)

//go:embed proofs.csv
var proofsText string

// proof lists the claims that were proven on a version of a product.
type proof struct {
	Engine, Version string
	Claims          []string // or only suite
}

// suite is the claim that every test of the engine has passed on a real server.
const suite = "suite"

var proofs = sync.OnceValue(func() []proof { return readProofs(proofsText) })

func readProofs(text string) (all []proof) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(err) // the file is embedded, so only a programmer can break it
	}
	for _, r := range rows[1:] {
		all = append(all, proof{r[0], r[1], strings.Split(r[2], ";")})
	}
	return all
}

// line returns the proof as a line of the table.
func (p proof) line() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{p.Engine, p.Version, strings.Join(p.Claims, ";")}) // to a builder
	w.Flush()
	return b.String()
}

// StateOf describes how far an engine is proven, from the table of proofs.
func StateOf(e filewise.Engine) string {
	about := e.Describe()
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

// Proven lists the versions on which an unproven engine was tried, and how many of the adapter's claims each has
// proven.
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

// ClaimTable returns a Markdown table of the claims of an unproven engine's adapter, by the versions on which they are
// proven.
func ClaimTable(e filewise.Engine) string {
	var versions []string // in the order of the claims
	claims := map[string][]string{}
	for _, c := range Claims(e) {
		var on []string
		for _, p := range proofs() {
			if p.Engine == e.Name() && slices.Contains(p.Claims, c) {
				on = append(on, p.Version)
			}
		}
		version := cmp.Or(strings.Join(on, ", "), "none yet")
		if claims[version] == nil {
			versions = append(versions, version)
		}
		claims[version] = append(claims[version], c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| claims on %s | proven on |\n|---|---|\n", e.Name())
	for _, v := range versions {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(claims[v], "; "), v)
	}
	return b.String()
}
