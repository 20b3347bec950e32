package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"

	"filewise/engine/internal/session"
	"filewise/engine/internal/sqlrows"
)

// parallelWorkers returns how many processors the server estimates for a phase's query, or 0 if its plan is not parallel.
// The session that asks is closed afterwards, because it executes nothing.
func (b *build) parallelWorkers(ctx context.Context, phase int) (n int, err error) {
	d := b.design
	texts, err := session.Render(d.program.Phases[phase], func(section string) (string, error) {
		return d.batch(section, d.ofWorker(0))
	})
	if err != nil {
		return 0, err
	}
	err = b.server.within(d.name, func(db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := exec(ctx, conn, showPlans); err != nil {
			return err
		}
		for _, text := range texts {
			plans, err := sqlrows.Query(ctx, conn, text)
			if err != nil {
				return fmt.Errorf("%s: %w", short(text), err)
			}
			for _, plan := range plans {
				n += planned(fmt.Sprint(plan[0]))
			}
		}
		return nil
	})
	return n, b.server.login.explain(err)
}

// showPlans makes a session return the plans of statements, and execute none.
const showPlans = "SET SHOWPLAN_XML ON"

// Attributes of plans ("Showplan XML schema"). The second one is the number of processors that the optimizer takes for granted
// if a plan is parallel.
var (
	parallelStep = regexp.MustCompile(`\bParallel="(?:1|true)"`)
	processors   = regexp.MustCompile(`\bEstimatedAvailableDegreeOfParallelism="(\d+)"`)
)

// planned returns the processors of a plan in XML, or 0 if it has no parallel step. A parallel plan has two at least.
func planned(plan string) int {
	if !parallelStep.MatchString(plan) {
		return 0
	}
	n := 2
	for _, m := range processors.FindAllStringSubmatch(plan, -1) {
		if given, err := strconv.Atoi(m[1]); err == nil {
			n = max(n, given)
		}
	}
	return n
}
