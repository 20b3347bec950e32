//go:build linux

package main

import (
	"fmt"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
)

// result is the part of a run's JSON (report.Document) that the tables show.
type result struct {
	Headline   string
	Decision   decision
	Layouts    []layout
	Operations []outcome
	Trials     []filewise.Trial
	Plan       struct{ Rungs []struct{ Options []string } }
	Judgement  struct {
		Elapsed    time.Duration `json:"elapsed_ns"`
		Measuring  time.Duration `json:"measuring_ns"`
		Relevance  struct{ Files float64 }
		Conditions []filewise.Condition
		Cause      cause
		Operations []struct {
			Name  string
			Cause cause
		}
	}
}

type (
	decision struct{ Decision, Layout string }
	layout   struct {
		Name string
		Low  *float64 `json:"difference_low"`
		High *float64 `json:"difference_high"`
	}
	outcome struct {
		Name     string
		Decision decision
		Layouts  []layout
	}
	cause struct{ Sentences []string }
)

// read fills the cell with a run's results.
func (c *cell) read(r result, v volumes) {
	j := r.Judgement
	c.Headline, c.Elapsed, c.Measuring, c.Files, c.Conditions = r.Headline, j.Elapsed, j.Measuring, j.Relevance.Files, j.Conditions
	for _, rung := range r.Plan.Rungs {
		c.Rungs = append(c.Rungs, strings.Join(rung.Options, " "))
	}
	outcomes, causes := r.Operations, map[string]cause{"": j.Cause}
	if len(outcomes) == 0 {
		outcomes = []outcome{{Decision: r.Decision, Layouts: r.Layouts}}
	}
	for _, f := range j.Operations {
		causes[f.Name] = f.Cause
	}
	for _, x := range outcomes {
		f := operation{Name: x.Name, Decision: x.Decision.Decision, Layout: x.Decision.Layout,
			Cause: strings.Join(causes[x.Name].Sentences, " ")}
		if n := len(x.Layouts); n > 0 {
			f.Low, f.High = x.Layouts[n-1].Low, x.Layouts[n-1].High
			if n == 2 {
				f.Expected = v.expected(r.Trials, x.Name, x.Layouts[0].Name, x.Layouts[1].Name)
			}
		}
		c.Operations = append(c.Operations, f)
	}
}

func head(disk bool) string {
	if disk {
		return "| scenario | engine | operation | expected | fio | interval | decision | storage named | found |\n" +
			"|---|---|---|--:|--:|--:|---|---|---|"
	}
	return "| scenario | engine | conditions | files' share | half-width | minutes | measuring | written | decision |\n" +
		"|---|---|---|--:|--:|--:|--:|--:|---|"
}

// rows returns the cell's lines of the table.
func (c cell) rows() []string {
	if c.Failed != "" {
		return []string{fmt.Sprintf("| %s | %s | %s |", c.Scenario, c.Engine, strings.ReplaceAll(c.Failed, "|", "/"))}
	}
	if c.Disk {
		return c.diskRows()
	}
	var conditions []string
	for _, x := range c.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s %s (%s)", x.Name, x.Sign(), x.Measured))
	}
	width, decisions := "", []string{}
	for i, f := range c.Operations {
		if i == 0 && f.Low != nil && f.High != nil {
			width = fmt.Sprintf("±%.1f %%", (*f.High-*f.Low)/2)
		}
		decisions = append(decisions, strings.TrimSpace(f.Name+" "+f.Decision+" "+f.Layout))
	}
	return []string{fmt.Sprintf("| %s | %s | %s | %.0f %% | %s | %.1f | %.0f %% | %s | %s |", c.Scenario, c.Engine,
		strings.Join(conditions, ", "), 100*c.Files, width, c.Elapsed.Minutes(), 100*float64(c.Measuring)/float64(c.Elapsed),
		say.Size(c.Written), strings.Join(decisions, ", "))}
}
