package doctor

import (
	_ "embed"
	"encoding/csv"
	"fmt"
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
