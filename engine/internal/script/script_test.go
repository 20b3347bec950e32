package script

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/internal/shell"
)

var errWrong = errors.New("wrong")

func rendered(section string) ([]string, error) {
	if section == "wrong" {
		return nil, errWrong
	}
	return []string{section + " 1", section + " 2"}, nil
}

func program() filewise.Program {
	return filewise.Program{Phases: []filewise.Phase{
		{Section: "insert"},
		{Section: "insert", Connections: 8},
		{Operation: "backup", Act: filewise.ActBackup},
		{Client: true, Types: []string{"a", "b"}, Sections: []string{"pay", "pay"}},
	}}
}

func written(t *testing.T) Steps {
	t.Helper()
	w := NewWriter("database", rendered)
	w.Command(filewise.StageBuild, "/bin/db", "-d", "it's here")
	w.Add(filewise.StageBuild, "server", "CREATE DATABASE d")
	w.Sections(filewise.StageBuild, "tables")
	w.Work(program(), func(p filewise.Phase) { w.Add(filewise.StageMeasure, shell.Place, p.Operation) }, "flush")
	w.Checks([]string{"tables", "totals", "check", "checked", "check-sums"})
	steps, err := w.Steps()
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func TestWriter(t *testing.T) {
	steps := written(t)
	want := []string{`/bin/db -d 'it'\''s here'`, "CREATE DATABASE d", "tables 1", "tables 2", "call-insert 1", "call-insert 2", "flush",
		"backup",
		"statement-pay 1", "statement-pay 2", "flush",
		"totals 1", "totals 2", "check 1", "check 2", "check-sums 1", "check-sums 2"}
	if got := steps.Texts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := steps.At(filewise.StageBuild).On("database").Of("tables").Texts(); !slices.Equal(got, []string{"tables 1", "tables 2"}) {
		t.Errorf("%q", got)
	}
	if command := steps[0].Command; !slices.Equal(command, []string{"/bin/db", "-d", "it's here"}) {
		t.Errorf("%q", command)
	}
}

func TestWriterFails(t *testing.T) {
	w := NewWriter("database", rendered)
	w.Sections(filewise.StageBuild, "tables", "wrong", "tables")
	w.AddAll(filewise.StageBuild, "server", nil, errors.New("a later one"))
	if steps, err := w.Steps(); steps != nil || !errors.Is(err, errWrong) {
		t.Errorf("%v: %v", steps, err)
	}
}

// A plan prints what is run, in the same order.
func TestPlanIsRun(t *testing.T) {
	steps := written(t)
	plan := steps.Plan(strings.ToUpper)
	var run []filewise.Step
	err := steps.Run(t.Context(), func(_ context.Context, x Step) error {
		run = append(run, filewise.Step{Stage: x.Stage, On: x.On, SQL: strings.ToUpper(x.Text)})
		return nil
	})
	if err != nil || !slices.Equal(plan, run) {
		t.Errorf("%v\n%v: %v", plan, run, err)
	}
}

func TestRunEnds(t *testing.T) {
	done := 0
	ctx, cancel := context.WithCancelCause(t.Context())
	err := written(t).Run(ctx, func(context.Context, Step) error {
		if done++; done == 2 {
			cancel(errWrong)
		}
		return nil
	})
	if done != 2 || !errors.Is(err, errWrong) {
		t.Errorf("%d done: %v", done, err)
	}
	err = written(t).Run(t.Context(), func(context.Context, Step) error { return errWrong })
	if !errors.Is(err, errWrong) {
		t.Error(err)
	}
}
