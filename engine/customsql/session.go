package customsql

import (
	"errors"
	"fmt"
	"regexp"

	"filewise"
	"filewise/engine/internal/session"
)

// Session holds the transactions that a connection executes.
type Session struct {
	sections     [][]Statement // by operation type
	failing      []error       // by type, of a rehearsal: why it cannot be prepared
	args, values []any
}

// Prepare prepares the transactions of the connection's phase. It calls prepare with each statement, so that mistakes are
// found before the work. In a rehearsal it stores the mistakes for Rehearse. On the first connection it also calls try with
// the queries of checks, because a mistake found after the measurement would waste the trial.
func (s *Session) Prepare(r Rules, c *filewise.CustomSQL, of *session.Session, rehearse bool, prepare, try func(*Statement) error) error {
	for _, name := range of.Phase.Sections {
		all, err := r.Section(c, name)
		if err != nil {
			return err
		}
		s.sections = append(s.sections, all)
		err = each(all, prepare)
		if s.failing = append(s.failing, err); err != nil && !rehearse {
			return err
		}
	}
	if of.Worker > 0 {
		return nil
	}
	checks, err := r.Checks(c)
	if err != nil {
		return err
	}
	return each(checks, try)
}

func each(all []Statement, do func(*Statement) error) error {
	for i := range all {
		if err := do(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Do executes operation i.
func (s *Session) Do(c Conn, of *session.Session, i int64) error {
	s.args = of.Args(s.args[:0], i)
	return s.Transact(c, of.Type(i), s.args)
}

// Try executes operation i and rolls it back.
func (s *Session) Try(c Conn, of *session.Session, i int64) error {
	s.args = of.Args(s.args[:0], i)
	return s.Rehearse(c, of.Type(i), s.args)
}

// Rehearse executes a transaction of a type with its arguments and rolls it back. It skips procedures, which can
// commit.
func (s *Session) Rehearse(c Conn, kind int, args []any) (err error) {
	if err := s.failing[kind]; err != nil {
		return err
	}
	for _, x := range s.sections[kind] {
		if calling.MatchString(x.Text) {
			return nil
		}
	}
	if err := c.Begin(false); err != nil {
		return fmt.Errorf("BEGIN: %w", err)
	}
	for i := range s.sections[kind] {
		x := &s.sections[kind][i]
		s.values = x.Values(s.values[:0], args)
		if err = failed(*x, c.Run(x, s.values)); err != nil {
			break
		}
	}
	return errors.Join(err, c.Rollback())
}

var calling = regexp.MustCompile(`(?i)^\W*(CALL|EXEC|EXECUTE|BEGIN|DECLARE)\b`)

// Transact executes a transaction of a type with its arguments.
func (s *Session) Transact(c Conn, kind int, args []any) (err error) {
	s.values, err = Transaction(c, s.sections[kind], args, s.values)
	return err
}
