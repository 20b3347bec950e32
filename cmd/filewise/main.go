// Command filewise finds out how many files a database should be spread over.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"filewise/internal/fault"
	"filewise/internal/filesystem"
	"filewise/internal/help"
	"filewise/internal/pager"
	"filewise/internal/progress"
	"filewise/results/report/document"
)

func main() {
	ctx, stop := interruptible(os.Exit)
	err := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err))
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP ends, so that the running trial ends
// cleanly. The second signal exits at once; the next start removes what is left over. An ignored signal stays ignored,
// as under nohup.
func interruptible(exit func(int)) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		<-signals
		cancel()
		filesystem.Interrupt()
		<-signals
		exit(exitInterrupted)
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}

// surviveBrokenPipe turns writing to a pipe without a reader into an error, since a closed pager must not end a
// measurement. By default it ends the process. The returned function restores that.
func surviveBrokenPipe() func() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGPIPE)
	return func() { signal.Stop(signals) }
}

// execute executes one command line. It reports errors to stderr, and returns them for the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	args, all := help.WantsAll(args)
	a := &app{stdin: stdin, args: args, helpAll: all}
	a.stderr = &document.Readable{To: pager.ForPipe(stderr), Before: func(text []byte) { a.board.Before(text, false) }}
	a.stdout = a.forPeople(stdout)
	a.board.Show(stderr, steered(a.stderr), func() int { width, _ := terminal(a.stderr); return width })
	root := a.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	a.sweep(ctx, root, args)
	err := root.ExecuteContext(progress.With(ctx, &a.board))
	if err == nil {
		err = a.paged()
	} else {
		_ = a.paged() // an error of the command goes before its error
	}
	if err != nil && !fault.ClosedPipe(err) { // the reader has seen enough
		a.reportError(err, args)
	}
	return err
}
