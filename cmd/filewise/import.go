package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run/doctor"
)

func (a *app) importCommand() *cobra.Command {
	var selfCheck bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import a run that another machine exported with --bundle",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if selfCheck {
				return a.readSelfCheck(args[0])
			}
			return a.importBundle(cmd.Context(), args[0])
		},
	}
	cmd.Flags().BoolVar(&selfCheck, "self-check", false, "FILE was written by doctor --self-check --all")
	return cmd
}

func (a *app) readSelfCheck(name string) error {
	in, done, err := a.input(name, "self-check")
	if err != nil {
		return err
	}
	defer done()
	r, err := doctor.ReadRecord(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e, err := registry().Lookup(r.Engine)
	if err != nil {
		return err
	}
	read := r.Read(e)
	return a.print(read, func(w *lineWriter) { w.printf("%s", read.Text()) })
}

// imported is the output of import.
type imported struct {
	Run   int64         `json:"run"`
	Added int           `json:"trials_added"` // 0 means all trials were here already
	From  *store.Origin `json:"origin,omitempty"`
}

func (a *app) importBundle(ctx context.Context, name string) (err error) {
	m, run, trials, err := a.readBundle(name)
	if err != nil {
		return err
	}
	// What cannot be judged could not be shown either.
	if _, err := (archive.Run{Run: run, Trials: trials}).Data(); err != nil {
		return filewise.Errorf(filewise.CodeUsage, "import it with Filewise "+m.Version, "the run of %s cannot be judged here: %w", name, err)
	}
	st, err := store.Open(ctx, a.storePath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	id, added, err := st.Import(ctx, m, run, trials)
	if err != nil {
		return err
	}
	if run, err = st.Run(ctx, id); err != nil {
		return err
	}
	return a.print(imported{id, added, run.Origin}, func(w *lineWriter) {
		switch {
		case added == 0 && run.Origin == nil:
			w.printf("It is run %d, which was measured here: nothing was imported.\n", id)
		case added == 0:
			w.printf("It is here already, as run %d: nothing was imported.\n", id)
		default:
			w.printf("Imported as run %d: %s on %s, %s, measured by %s. %s\n", id, run.Plan.Scenario, run.Plan.Target.Engine,
				filewise.Counted(added, "trial"), run.Origin.Where(), run.Verdict)
		}
	})
}

func (a *app) readBundle(name string) (m store.Manifest, run store.Run, trials []filewise.Trial, err error) {
	in, done, err := a.input(name, "bundle")
	if err != nil {
		return m, run, nil, err
	}
	defer done()
	if m, run, trials, err = store.ReadBundle(in); err != nil && name != "-" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return m, run, trials, err
}

// input opens a file from someone else. "-" is standard input.
func (a *app) input(name, what string) (in io.Reader, done func(), err error) {
	if name == "-" {
		return filesystem.Reader(a.stdin), func() {}, nil
	}
	f, err := filesystem.Open(name)
	if err != nil {
		return nil, nil, filewise.Errorf(filewise.CodeUsage, "name a "+what+" that you may read", "%s: %w", what, err)
	}
	return f, func() { _ = f.Close() }, nil
}
