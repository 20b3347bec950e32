// Package script holds what a trial does as data: steps that `filewise plan` prints and Build executes. So the plan
// cannot differ from what is done.
//
// An engine joins in by one function that writes the steps of a design:
//
//	func (d *design) steps() (script.Steps, error) {
//		w := script.NewWriter("database "+d.name, d.render)  // renders a section with the program's parameters
//		w.Add(filewise.StageBuild, "server", createDatabase(d.name))
//		w.Sections(filewise.StageBuild, "tables")
//		w.Work(d.program, d.act)                            // what the phases execute, each once
//		w.Checks(sections[d.program.SQL()].Sections())
//		return w.Steps()
//	}
//
// Engine.Statements returns them by Steps.Plan. A build keeps the same steps and executes
// them stage by stage:
//
//	err := b.steps.At(filewise.StageBuild).On("server").Run(ctx, b.exec)
//
// A value that only the server has, such as the last key before files are added, belongs to the design. Plans render it
// with a stand-in, and the build writes its steps again.
package script

import (
	"context"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/internal/shell"
)

// Step is one thing that a trial does.
type Step struct {
	Stage   string
	On      string   // where it is done: on a server, in a shell, in a file; plans print it
	Text    string   // in full: a statement, a command, or the file's content
	Section string   // the SQL section that Text was rendered from; "" if none
	Command []string // a program to start, with its arguments; Text is then the same command as a shell reads it
}

// Command returns the step that starts a program.
func Command(stage string, command ...string) Step {
	return Step{Stage: stage, On: shell.Place, Text: shell.Quoted(command), Command: command}
}

// Steps holds steps in the order in which they are done.
type Steps []Step

// At returns the steps of a stage.
func (s Steps) At(stage string) Steps { return s.those(func(x Step) bool { return x.Stage == stage }) }

// On returns the steps that are done on the named place.
func (s Steps) On(on string) Steps { return s.those(func(x Step) bool { return x.On == on }) }

// Of returns the steps that were rendered from a section.
func (s Steps) Of(section string) Steps {
	return s.those(func(x Step) bool { return x.Section == section })
}

func (s Steps) those(are func(Step) bool) Steps {
	var all Steps
	for _, x := range s {
		if are(x) {
			all = append(all, x)
		}
	}
	return all
}

// Texts returns the steps' texts.
func (s Steps) Texts() []string {
	return filewise.Each(s, func(x Step) string { return x.Text })
}

// Run calls do for the steps one after the other, until one fails or the context ends.
func (s Steps) Run(ctx context.Context, do func(ctx context.Context, x Step) error) error {
	for _, x := range s {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := do(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// Plan returns the steps as plans print them. Their texts are shortened by shorten unless it is nil.
func (s Steps) Plan(shorten func(text string) string) []filewise.Step {
	var all []filewise.Step
	for _, x := range s {
		text := x.Text
		if shorten != nil {
			text = shorten(text)
		}
		all = append(all, filewise.Step{Stage: x.Stage, On: x.On, SQL: text})
	}
	return all
}

// Writer collects steps. After an error it adds nothing more, and Steps returns the error.
type Writer struct {
	on     string
	render func(section string) ([]string, error)
	steps  Steps
	err    error
}

// NewWriter returns a writer whose steps of sections are executed on the named place. render renders a section of the
// workload's SQL with the program's parameters.
func NewWriter(on string, render func(section string) ([]string, error)) *Writer {
	return &Writer{on: on, render: render}
}

// Add adds texts that belong to no section.
func (w *Writer) Add(stage, on string, texts ...string) {
	for _, text := range texts {
		w.add(Step{Stage: stage, On: on, Text: text})
	}
}

// AddAll adds texts that were rendered elsewhere, or the error of rendering them.
func (w *Writer) AddAll(stage, on string, texts []string, err error) {
	w.Rendered(stage, on, "", texts, err)
}

// Rendered adds a section that was rendered elsewhere, or the error of rendering it.
func (w *Writer) Rendered(stage, on, section string, texts []string, err error) {
	w.fail(err)
	for _, text := range texts {
		w.add(Step{Stage: stage, On: on, Text: text, Section: section})
	}
}

// Command adds the step that starts a program.
func (w *Writer) Command(stage string, command ...string) { w.add(Command(stage, command...)) }

// Sections renders sections and adds them.
func (w *Writer) Sections(stage string, names ...string) {
	for _, name := range names {
		if w.err != nil {
			return
		}
		all, err := w.render(name)
		w.Rendered(stage, w.on, name, all, err)
	}
}

// Work adds what sessions execute in the program's phases, and the sections drain after each phase. Phases that differ
// only in their connections are added once. act adds what a phase does other than sessions' work.
func (w *Writer) Work(p filewise.Program, act func(p filewise.Phase), drain ...string) {
	var done []string
	for _, phase := range p.Phases {
		if phase.Act != filewise.ActWork {
			act(phase)
			continue
		}
		if !w.phase(phase, &done) || p.ReadOnly {
			continue
		}
		w.Add(filewise.StageDrain, w.on, drain...)
	}
}

// phase adds the sections of a phase that done does not hold yet, and reports whether there were any.
func (w *Writer) phase(p filewise.Phase, done *[]string) (any bool) {
	for _, section := range operations.SectionsOf(p) {
		name := operations.Section(p, section)
		if !slices.Contains(*done, name) {
			*done, any = append(*done, name), true
			w.Sections(filewise.StageMeasure, name)
		}
	}
	return any
}

// Checks adds the sections that check the data: check, check-… and totals.
func (w *Writer) Checks(sections []string) {
	for _, name := range sections {
		if name == "check" || name == "totals" || strings.HasPrefix(name, "check-") {
			w.Sections(filewise.StageCheck, name)
		}
	}
}

// Steps returns the steps that were written, or the first error.
func (w *Writer) Steps() (Steps, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.steps, nil
}

func (w *Writer) add(x Step) {
	if w.err == nil {
		w.steps = append(w.steps, x)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
