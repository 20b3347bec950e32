package innodb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"filewise"
)

// typed sends operations of several types, each of which is one statement that is
// a transaction. Statements are texts with their arguments in them: to execute a
// prepared one, the driver allocates for each argument, and a CALL saves the server
// nothing by being prepared.
type typed struct {
	*session
	phase  filewise.Phase
	args   filewise.TypedArgs
	writer filewise.ArgsWriter // nil: args appends
	texts  []statementText     // by type
	direct executor
	values values
	buf    []byte
	churn  *churn
	watch  *watch
}

// executor is the driver's own connection. Its Exec reads the answer to its end
// and keeps nothing of it.
type executor interface {
	Exec(query string, args []driver.Value) (driver.Result, error)
}

// newTyped readies a session for the types of a phase.
func newTyped(ctx context.Context, s *session, p filewise.Phase) (_ filewise.Session, err error) {
	t := &typed{session: s, phase: p}
	if err = t.prepare(ctx); err != nil {
		return nil, errors.Join(Classify(s.link.Explain(err)), t.Close())
	}
	return t, nil
}

func (t *typed) prepare(ctx context.Context) (err error) {
	args, ok := t.phase.Args.(filewise.TypedArgs)
	if !ok || len(t.phase.Sections) != len(t.phase.Types) {
		return filewise.Errorf(filewise.CodeInternal, "", "phase %s has no types of operations", t.phase.Family)
	}
	t.args = args
	t.writer, _ = args.(filewise.ArgsWriter)
	for _, section := range t.phase.Sections {
		text, err := t.schema.Statement(SectionStatement+section, t.schema.TableOf(t.worker))
		if err != nil {
			return err
		}
		t.texts = append(t.texts, divided(text))
	}
	if t.churn, err = t.schema.newChurn(); err != nil {
		return err
	}
	if err = t.ready(ctx); err != nil {
		return err
	}
	return t.conn.Raw(func(connection any) error {
		if t.direct, ok = connection.(executor); !ok {
			return fmt.Errorf("the driver's connection %T executes no texts", connection)
		}
		return nil
	})
}

// Do executes n operations. When the context ends, the one that runs is
// interrupted on the server.
func (t *typed) Do(ctx context.Context, first, n int64) (done int64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if t.watch == nil || t.watch.ctx != ctx {
		t.unwatch()
		t.watch = t.session.watchOver(ctx)
	}
	t.host.Touched()
	t.watch.busy.Store(true)
	for done < n && err == nil && ctx.Err() == nil {
		if err = t.one(first + done); err == nil {
			done++
		}
	}
	t.watch.busy.Store(false)
	if ctx.Err() != nil {
		<-t.watch.told // what it says next would hit the next statement
	}
	t.host.Touched()
	if err == nil {
		return done, context.Cause(ctx)
	}
	return done, t.failed(ctx, first+done, err)
}

// one executes an operation, after the table that comes and goes.
func (t *typed) one(i int64) error {
	if t.churn != nil {
		if err := t.churn.comeAndGo(t.direct); err != nil {
			return fmt.Errorf("churn: %w", err)
		}
	}
	t.values.reset()
	if t.writer != nil {
		t.writer.WriteArgs(&t.values, t.worker, i)
	} else if err := t.values.write(t.args.Args(nil, t.worker, i)); err != nil {
		return err
	}
	var err error
	if t.buf, err = t.texts[t.args.TypeOf(t.worker, i)].fill(t.buf[:0], &t.values); err != nil {
		return err
	}
	return execute(t.direct, t.buf)
}

// execute lends a statement to the driver, which copies it before it returns.
func execute(to executor, statement []byte) error {
	_, err := to.Exec(unsafe.String(unsafe.SliceData(statement), len(statement)), nil)
	return err
}

// failed explains an operation's error. What the server answers with an error is
// not committed, but it may be open: a procedure that is interrupted does not get
// to its end.
func (t *typed) failed(ctx context.Context, i int64, err error) error {
	_, answered := Number(err)
	canceled := ctx.Err() != nil && interrupted(err)
	if canceled {
		err = context.Cause(ctx)
	} else {
		err = Classify(t.link.Explain(fmt.Errorf("connection %d, %s %d: %w", t.worker, t.phase.Types[t.args.TypeOf(t.worker, i)], i, err)))
	}
	if !answered || t.link.Alive() != nil {
		return err
	}
	tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookPatience)
	defer cancel()
	if end := t.rollback(tidy); end != nil {
		err = errors.Join(err, fmt.Errorf("ending an interrupted transaction: %w", t.link.Explain(end)))
	}
	return err
}

// Close ends the connection. Closing again does nothing.
func (t *typed) Close() error {
	t.unwatch()
	return t.session.Close()
}

func (t *typed) unwatch() {
	if t.watch != nil && !t.watch.stop() {
		<-t.watch.told
	}
	t.watch = nil
}

// watch has the statements of a session interrupted when a context ends: one for
// all operations of the context, for they may take less than it does to set up.
type watch struct {
	ctx  context.Context
	busy atomic.Bool
	stop func() bool
	told chan struct{}
}

func (s *session) watchOver(ctx context.Context) *watch {
	w := &watch{ctx: ctx, told: make(chan struct{})}
	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.told)
		for w.busy.Load() {
			s.kill()
			time.Sleep(killAgain)
		}
	})
	return w
}
