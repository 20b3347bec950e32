package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"regexp"
	"strings"
	"testing"

	"filewise"
	"filewise/internal/browsertest"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/report"
)

// evils are texts that mean something in HTML, scripts, JSON, styles,
// templates, Markdown or terminals.
var evils = []string{
	`</script><script>pwned=1</script>`, `"><img src=x onerror="pwned=1">`, `'+(window.pwned=1)+'`, `{{.Version}}`, "`${window.pwned=1}`",
	`]]><!--<script>`, `javascript:pwned=1`, `datum["x"].y\`, "a\u2028b", `</style><style>*{display:none}</style>`,
	`<base href="//x.invalid/">`,
}

// hostile is a run in which every name is one of the evils.
func hostile(t *testing.T) report.Data {
	t.Helper()
	d := stored(t)
	rename := map[string]string{}
	for i := range d.Plan.Layouts {
		rename[d.Plan.Layouts[i].Name] = evils[i]
		d.Plan.Layouts[i].Name = evils[i]
		d.Judgement.Operations[0].Result.Arms[i].Name = evils[i]
	}
	d.Plan.Baseline = rename[d.Plan.Baseline]
	for i := range d.Trials {
		d.Trials[i].Cell.Layout = rename[d.Trials[i].Cell.Layout]
		d.Trials[i].Reason = evils[i%len(evils)]
		for k := range d.Trials[i].Files {
			d.Trials[i].Files[k].Path = "/" + evils[k%len(evils)]
		}
		for k := range d.Trials[i].Measures {
			d.Trials[i].Measures[k].Unit = evils[1]
		}
	}
	for _, e := range evils {
		d.Judgement.Warnings = append(d.Judgement.Warnings, filewise.Warning{Message: e, Remedy: e})
		d.Machine = append(d.Machine, filewise.Fact{Name: e, Value: e})
		d.Scenario.Notes = append(d.Scenario.Notes, e)
	}
	d.Judgement.Operations[0].Sentences = append([]string{evils[0]}, evils...)
	d.Plan.Scenario, d.Scenario.Title, d.State, d.Version = evils[0], evils[1], evils[2], evils[1]
	d.Scenario.Source = workload.Source{Author: evils[0], Title: evils[1], Where: evils[6], Year: 2010}
	d.Plan.Command = evils
	return d
}

var (
	policy     = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)
	inline     = regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`)
	attributes = regexp.MustCompile(`(?i)<[a-z][^<>]*\s(style|on[a-z]+)\s*=`)
	quoted     = regexp.MustCompile(`"[^"]*"`)
	outside    = regexp.MustCompile(`(?i)(?:src|href|action|data|poster|srcset)\s*=\s*"?(?:https?:)?//`)
)

func TestPolicyAllowsTheEmbeddedStyleAlone(t *testing.T) {
	for name, d := range map[string]report.Data{"stored": stored(t), "hostile": hostile(t)} {
		page := string(render(t, report.HTML, d))
		m := policy.FindStringSubmatch(page)
		if m == nil {
			t.Fatal("no policy")
		}
		csp := strings.ReplaceAll(strings.ReplaceAll(m[1], "&#39;", "'"), "&#43;", "+")
		if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: the policy is not strict: %s", name, csp)
		}
		if strings.Contains(page, "<script>") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: the report has a script, or may have one", name)
		}
		allowed := strings.Count(csp, "'sha256-")
		parts := inline.FindAllStringSubmatch(page, -1)
		if len(parts) != allowed {
			t.Errorf("%s: %d inline scripts and styles, %d hashes", name, len(parts), allowed)
		}
		for _, p := range parts {
			sum := sha256.Sum256([]byte(p[2]))
			if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(csp, hash) {
				t.Errorf("%s: a %s of %d bytes is not allowed by its hash", name, p[1], len(p[2]))
			}
		}
		rest := inline.ReplaceAllString(page, "")
		// In quotes anything may stand; html/template escapes the quotes within.
		if a := attributes.FindString(quoted.ReplaceAllString(rest, `""`)); a != "" {
			t.Errorf("%s: an inline handler or style: %s", name, a)
		}
		if a := outside.FindString(rest); a != "" {
			t.Errorf("%s: a reference to elsewhere: %s", name, a)
		}
		if len(page) > 3_000_000 {
			t.Errorf("%s: %d bytes, want less than 3 MB", name, len(page))
		}
	}
}

// TestContentsAreFive links at most, each to the first section of its part.
func TestContentsAreFive(t *testing.T) {
	for name, c := range map[string]struct {
		d    report.Data
		want string
	}{
		"stored": {stored(t), "Answer Trials Set-up"}, "rich": {rich(t), "Answer Why Trials Set-up"},
		"dml": {operations(t)["dml"], "Answer Why Latency Trials Set-up"}, "nothing": {partial(t)["nothing"], "Answer Trials Set-up"},
	} {
		page := string(render(t, report.HTML, c.d))
		var links []string
		nav := regexp.MustCompile(`(?s)<nav.*?</nav>`).FindString(page)
		for _, m := range regexp.MustCompile(`href="#([a-z-]+)">([A-Za-z-]+)<`).FindAllStringSubmatch(nav, -1) {
			if links = append(links, m[2]); !strings.Contains(page, ` id="`+m[1]+`"`) {
				t.Errorf("%s: %s leads nowhere", name, m[2])
			}
		}
		if got := strings.Join(links, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestTablesAndChartsAreAccessible: every table names its subject, every chart has a text, headings do not skip a
// level.
func TestTablesAndChartsAreAccessible(t *testing.T) {
	for name, d := range map[string]report.Data{"stored": stored(t), "rich": rich(t), "swept": swept(t), "dml": operations(t)["dml"],
		"backup": operations(t)["backup"]} {
		t.Run(name, func(t *testing.T) { checkAccessible(t, inline.ReplaceAllString(string(render(t, report.HTML, d)), "")) })
	}
}

// swept is a run over load levels, with two types of operations.
func swept(t *testing.T) report.Data {
	d := rich(t)
	lo, hi := 95.0, 104.0
	d.Judgement.Sweep = &experiment.Sweep{}
	for _, l := range d.Plan.Layouts {
		d.Judgement.Sweep.Curves = append(d.Judgement.Sweep.Curves, experiment.Curve{Layout: l.Name, Points: []experiment.Point{
			{Users: 100, Trials: 3, Throughput: 99, Lo: &lo, Hi: &hi}, {Users: 200, Trials: 1, Throughput: 140},
		}, Fit: &experiment.Scalability{Lambda: 2, Sigma: 0.01}})
		d.Judgement.Latencies = append(d.Judgement.Latencies, experiment.Latency{Operation: "orders", Layout: l.Name, Type: "payment", Count: 9})
	}
	return d
}

func checkAccessible(t *testing.T, page string) {
	t.Helper()
	level := 0
	for _, h := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(page, -1) {
		n := int(h[1][0] - '0')
		if n > level+1 {
			t.Errorf("a heading of level %d follows one of level %d", n, level)
		}
		level = n
	}
	if n := strings.Count(page, "<h1"); n != 1 {
		t.Errorf("%d main headings", n)
	}
	for _, tag := range []string{"<main>", "<header", "<nav aria-label=", "<footer>", `lang="en"`} {
		if !strings.Contains(page, tag) {
			t.Errorf("no %s", tag)
		}
	}
	charts, texts := strings.Count(page,
		`<svg class="fluid"`), len(regexp.MustCompile(`<svg class="fluid" height="[0-9.]+" role="img" aria-label="[^"]{30,}"`).FindAllString(page,
		-1))
	if charts < 3 || texts != charts {
		t.Errorf("%d of %d charts have a text alternative", texts, charts)
	}
	for _, th := range regexp.MustCompile(`<th[ >][^>]*`).FindAllString(page, -1) {
		if !strings.Contains(th, "scope=") {
			t.Errorf("a table head without scope: %s", th)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("the id %s is used twice", m[1])
		}
		ids[m[1]] = true
	}
	labels := map[string]bool{}
	for _, m := range regexp.MustCompile(`<(?:section|nav|div class="scroll")[^>]* (aria-label(?:ledby)?="[^"]*")`).FindAllStringSubmatch(page,
		-1) {
		if labels[m[1]] {
			t.Errorf("two parts have the same name, %s", m[1])
		}
		labels[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:aria-labelledby|href)="#?([a-z-]+)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("nothing has the id %s", m[1])
		}
	}
}

// TestColoursAreLegible by light and by dark, on every ground that holds them.
func TestColoursAreLegible(t *testing.T) {
	css, err := os.ReadFile("document/assets/report.css")
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Legible(t, string(css), []string{"text", "muted", "link", "good", "same", "worse", "open", "best"},
		[]string{"warn"}, []string{"bg", "panel"})
	browsertest.Legible(t, string(css), []string{"text", "muted"}, []string{"best", "good", "same", "worse", "open"},
		[]string{"bg", "band", "stripe", "warn-bg"})
}

// TestNumbersStayWithTheirPercentSigns wherever a browser may break lines.
// Commands stay as they are typed.
func TestNumbersStayWithTheirPercentSigns(t *testing.T) {
	d := stored(t)
	d.Plan.Command = append(d.Plan.Command, "--volume", "x=/mnt/50 %")
	d.Judgement.Warnings = append(d.Judgement.Warnings, filewise.Warning{Message: "Only 7 % are left", Remedy: "Free 20 %"})
	page := string(render(t, report.HTML, d))
	text := inline.ReplaceAllString(page, "")
	text = regexp.MustCompile(`(?s)<pre.*?</pre>`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, "\n")
	for _, m := range regexp.MustCompile(`[^\n]*[0-9] %[^\n]*`).FindAllString(text, -1) {
		t.Errorf("can break before %%: %s", m)
	}
	for _, want := range []string{"Only 7\u00a0% are left", "Free 20\u00a0%", "the middle 50\u00a0% and 80\u00a0%", "/mnt/50 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestALongRunStaysSmall: 120 blocks, more than 500 trials.
func TestALongRunStaysSmall(t *testing.T) {
	d := stored(t)
	once := d.Trials
	for i := 1; i < 20; i++ {
		for _, tr := range once {
			if !tr.Cell.Pilot {
				tr.Cell.Block += 6 * i
				d.Trials = append(d.Trials, tr)
			}
		}
	}
	if page := render(t, report.HTML, d); len(page) > 3_000_000 {
		t.Errorf("%d trials make %d bytes, want less than 3 MB", len(d.Trials), len(page))
	}
}
