package doctor

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/all"
	"filewise/engine/oracle"
	"filewise/engine/sqlserver"
)

// recorded is a record of a trial that worked, one that failed with names in its reason, and one that was not tried.
func recorded() *recorder {
	r := newRecorder("sqlserver")
	r.facts([]filewise.Fact{{Name: "version", Value: "SQL Server 2022 (16.0.4085.2 RTM) on HOPPER"}}, true)
	r.begin("dml")
	build := []filewise.Stage{{Name: filewise.StageBuild, Took: 17 * time.Second}, {Name: filewise.StageBuild, Took: 1}}
	r.worked(filewise.Trial{Stages: build,
		Measures: []filewise.Measure{{Work: 4711, Deltas: []filewise.Delta{{Probe: filewise.ProbeWaits, Name: "PAGELATCH_UP", Value: 4711},
			{Probe: "x", Name: `D:\hopper\tempdb.mdf`}, {Probe: "x", Name: "of filewise_hopper"}}}}})
	r.tried()
	r.begin("scan")
	r.see(filewise.Refusal{Statement: "ALTER DATABASE ? SET ONLINE", Code: "5011"})
	r.see(filewise.Refusal{Statement: "ALTER DATABASE ? SET ONLINE", Code: "5011"})
	r.status(filewise.StatusFailed)
	r.failedIn("reset: hopper's database is offline")
	r.tried()
	r.begin("temp")
	r.begin("backup")
	r.tried()
	return r
}

// TestRecord: it lists the tried claims, the failing stages and the times by class, and holds no figure and no name;
// its reader finds the same, and which claims it proves.
func TestRecord(t *testing.T) {
	text := recorded().closed().JSON()
	for _, secret := range []string{"hopper", "HOPPER", "4711", "17"} {
		if strings.Contains(text, secret) {
			t.Errorf("it holds %s:\n%s", secret, text)
		}
	}
	r, err := ReadRecord(strings.NewReader(text))
	if err != nil || r.JSON() != text {
		t.Fatalf("%v: %s", err, r.JSON())
	}
	if len(r.Refused) != 1 || r.Refused[0].Claim != "scan" || len(r.Counters) != 1 || r.Counters[0] != "waits: PAGELATCH_UP" {
		t.Errorf("%+v", r)
	}
	i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Claim == "dml" })
	if o := r.Outcomes[i]; o.State != StateProven || o.Took["build"] != "< 60 s" {
		t.Errorf("%+v", o)
	}
	if o := r.Outcomes[i+1]; o.State != StateFailed || o.At != "reset" || r.Outcomes[i+2].State != StateUntried {
		t.Errorf("%+v", r.Outcomes)
	}
	read := r.Read(sqlserver.Engine{})
	if strings.Join(read.Proven, "; ") != claimFacts+"; "+claimWaits+"; dml" || len(read.Failed) != 1 || !slices.Contains(read.Open, "temp") ||
		!strings.Contains(read.Text(), "  open        temp\n") || !strings.Contains(read.Text(), "  not offered backup\n") {
		t.Errorf("%+v", read)
	}
	if got := readProofs("engine,version,claims\n" + read.Proof); len(got) != 1 || got[0].Version != "16.0.4085.2" || len(got[0].Claims) != 3 {
		t.Errorf("%+v", got)
	}
	if r.Version = ""; len(r.Read(sqlserver.Engine{}).Proven) > 0 {
		t.Error("something is proven of a version that nobody knows")
	}
}

// TestReadRecordRefuses what Filewise has not written.
func TestReadRecordRefuses(t *testing.T) {
	good := recorded().closed().JSON()
	for name, text := range map[string]string{
		"empty": "", "another format": strings.Replace(good, `"format": 1`, `"format": 2`, 1), "more behind it": good + "{}",
		"unknown field": strings.Replace(good, `"format"`, `"rows": 1, "format"`, 1), "too long": `"` + strings.Repeat("x", mostRecord+1),
		"a state": strings.Replace(good, `"proven"`, `"good"`, 1), "a duration": strings.Replace(good, "< 60 s", "17 s", 1),
		"an escape": strings.Replace(good, "PAGELATCH_UP", `\u001b[31m`, 1), "a version": strings.Replace(good, "16.0.4085.2", "HOPPER", 1),
		"a claim twice": strings.Replace(good, `"scan"`, `"dml"`, 1),
		"many":          `{"format":1,"engine":"x","version":"","outcomes":[],"counters":["a"` + strings.Repeat(`,"a"`, mostCounters) + `]}`,
	} {
		if _, err := ReadRecord(strings.NewReader(text)); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzReadRecord: whatever is sent, it is refused, or shows as plain text and proves no more claims than there are.
func FuzzReadRecord(f *testing.F) {
	f.Add(recorded().closed().JSON())
	f.Add(`{"format":1,"engine":"oracle","version":"23.4","outcomes":[{"claim":"dml","state":"proven","took":{}}]}`)
	claims := Claims(oracle.Engine{})
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRecord(strings.NewReader(text))
		if err != nil {
			return
		}
		read := r.read(claims)
		if n := len(read.Proven) + len(read.Failed) + len(read.Open); n != len(claims) {
			t.Errorf("%d claims: %+v", n, read)
		}
		if strings.ContainsFunc(read.Text(), func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f }) {
			t.Errorf("%q", read.Text())
		}
	})
}

// TestProofs: the table of proofs is about existing claims, and README and page agree with it.
func TestProofs(t *testing.T) {
	page := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	readme, unproven := page("../../README.md"), page("../../docs/unproven.md")
	for _, e := range all.Engines() {
		about := e.Describe()
		if !strings.Contains(readme, "| "+stateOf(e)+" |") {
			t.Errorf("README.md does not say of %s: %s", e.Name(), stateOf(e))
		}
		for _, p := range proofs() {
			if p.Engine != e.Name() || slices.Equal(p.Claims, []string{suite}) && about.Unproven == "" {
				continue
			}
			if strings.Contains(about.Unproven, "not yet run") {
				t.Errorf("%s is proven on %s, and its description says: %s", e.Name(), p.Version, about.Unproven)
			}
			for _, c := range p.Claims {
				if !slices.Contains(Claims(e), c) {
					t.Errorf("%s has no claim %q", e.Name(), c)
				}
			}
		}
		if about.Unproven != "" && !strings.Contains(unproven, claimTable(e)) {
			t.Errorf("docs/unproven.md has not:\n%s", claimTable(e))
		}
	}
}

// stateOf describes how far an engine is proven, from the table of proofs.
func stateOf(e filewise.Engine) string {
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

// claimTable returns a Markdown table of the claims of an unproven engine's adapter, by the versions on which they are
// proven.
func claimTable(e filewise.Engine) string {
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
