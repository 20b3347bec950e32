package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"filewise"
)

// Suite is one result: of a run, a comparison, or judged numbers from another tool.
type Suite struct {
	Name     string
	Started  time.Time // zero means not known
	Took     time.Duration
	Headline string   // the verdict in one sentence
	Said     []string // all texts of the verdict
	// Properties hold the result as data, by name: "filewise.decision", or with several operations
	// "filewise.decision.insert".
	Properties [][2]string
	Outcomes   []Outcome
}

// The elements of JUnit XML that GitLab, Jenkins and GitHub's actions read.
type (
	xmlSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Suites   []xmlSuite `xml:"testsuite"`
	}
	xmlSuite struct {
		Name      string  `xml:"name,attr"`
		Tests     int     `xml:"tests,attr"`
		Failures  int     `xml:"failures,attr"`
		Errors    int     `xml:"errors,attr"`
		Skipped   int     `xml:"skipped,attr"`
		Time      float64 `xml:"time,attr"`
		Timestamp string  `xml:"timestamp,attr,omitempty"`
		// Properties come before the cases, because the schema requires it.
		Properties *xmlProperties `xml:"properties"`
		Cases      []xmlCase      `xml:"testcase"`
	}
	xmlProperties struct {
		All []xmlProperty `xml:"property"`
	}
	xmlProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	xmlCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    float64  `xml:"time,attr"`
		Failure *xmlText `xml:"failure"`
		Skipped *xmlText `xml:"skipped"`
		Out     string   `xml:"system-out,omitempty"`
	}
	xmlText struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes suites as JUnit XML. The verdict is a case that passes. Each condition is a case: it fails if the
// condition is met, and is skipped if nothing relevant was measured.
func JUnit(w io.Writer, suites []Suite) error {
	var all xmlSuites
	for _, s := range suites {
		out := xmlSuite{Name: s.Name, Time: s.Took.Seconds(), Tests: 1 + len(s.Outcomes)}
		if !s.Started.IsZero() {
			out.Timestamp = s.Started.UTC().Format("2006-01-02T15:04:05")
		}
		if len(s.Properties) > 0 {
			out.Properties = &xmlProperties{}
			for _, p := range s.Properties {
				out.Properties.All = append(out.Properties.All, xmlProperty{p[0], p[1]})
			}
		}
		class := "filewise." + strings.ReplaceAll(s.Name, " ", "-")
		out.Cases = append(out.Cases, xmlCase{Class: class, Name: "verdict", Time: s.Took.Seconds(),
			Out: strings.Join(append([]string{s.Headline}, s.Said...), "\n")})
		for _, o := range s.Outcomes {
			c := xmlCase{Class: class, Name: strings.TrimSpace(o.Operation + " " + o.Condition)}
			switch text := (xmlText{Message: o.Text, Text: o.Line()}); {
			case o.Failed:
				c.Failure = &text
				out.Failures++
			case !o.Known:
				c.Skipped = &text
				out.Skipped++
			default:
				c.Out = o.Text
			}
			out.Cases = append(out.Cases, c)
		}
		all.Tests, all.Failures = all.Tests+out.Tests, all.Failures+out.Failures
		all.Suites = append(all.Suites, out)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Error returns an error if any outcome fails a pipeline, otherwise nil.
func Error(all []Outcome) error {
	failed := Failed(all)
	if len(failed) == 0 {
		return nil
	}
	const most = 3 // the result lists all of them
	lines := filewise.Each(failed[:min(len(failed), most)], func(o Outcome) string { return o.about() + ": " + o.Text })
	if more := len(failed) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return filewise.Errorf(filewise.CodeGate, "the result is complete and stored; --fail-if has what fails", "--fail-if %s",
		strings.Join(lines, "; "))
}
