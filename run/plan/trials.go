package plan

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// These limits keep sums of times and sizes far from overflow, and the data kept of a trial small.
const (
	maxTrialTime = 24 * time.Hour       // of a window, or of a warm-up
	maxBudget    = 366 * 24 * time.Hour // of a run
	maxSlices    = 6000                 // of a trial, per connection
	maxBlocks    = 500                  // rules 1 and 2 have no boundaries for more
)

func (m *maker) setParams() error {
	m.plan.Params = m.sc.Params
	if m.About.CommitEvery > 0 && m.Target.Mode == filewise.Managed && slices.Contains(m.sc.Flags, "commit-every") &&
		!m.o.AsPublished.Value && !m.o.Rate.Given() {
		m.plan.Params.CommitEvery = m.About.CommitEvery
	}
	put(&m.plan.Params.Connections, &m.o.Connections)
	m.setContention()
	put(&m.plan.Params.CommitEvery, &m.o.CommitEvery)
	put(&m.plan.Params.Table, &m.o.Sharing)
	put(&m.plan.Params.Key, &m.o.Key)
	if m.o.RowBytes.Given() {
		n, err := bytesOf("row-bytes", m.o.RowBytes.Value)
		if err != nil {
			return err
		}
		m.plan.Params.RowBytes = int(n)
	}
	if err := m.o.ScenarioOptions.apply(&m.plan.Params); err != nil {
		return err
	}
	m.setCache()
	if err := m.checkHere(); err != nil {
		return err
	}
	if m.o.Custom != nil {
		custom, err := m.o.Custom.For(m.plan.Target.Engine, m.About.Understands...)
		if err != nil {
			return err
		}
		m.plan.Params.Custom = &custom
		if err := m.setFrom(&custom); err != nil {
			return err
		}
	}
	if m.sc.Filling > 0 && !m.o.Rows.Given() {
		bytes, err := m.totalBytes()
		if err != nil {
			return err
		}
		m.plan.Params.Rows = m.sc.RowsIn(bytes, m.plan.Params)
	}
	if m.plan.Params.Own { // the database has its own rows
		m.plan.Params.Rows = 0
	}
	var err error
	if m.work, err = m.program(); err != nil {
		return err
	}
	if m.About.RowBytes > 0 && m.work.Appends() && !m.o.RowBytes.Given() {
		m.plan.Params.RowBytes = m.About.RowBytes
	}
	return nil
}

func (m *maker) setWork() (err error) {
	if m.fixed() {
		return nil
	}
	m.plan.SliceLength = sliceLength
	switch {
	case m.o.Work.Value == "" && !m.o.Work.Given():
		return m.setWindow()
	case m.o.Window.Given():
		return BadValue("work", m.o.Work.Value, "--window and --work exclude each other: measured time, or fixed work")
	case m.o.WarmUp.Given():
		return badUse("warm-up", m.o.WarmUp.Value, "fixed work (--work) has no warm-up: leave it out")
	}
	m.plan.Window, m.plan.PilotWindow = 0, 0
	if m.plan.Work, err = bytesOf("work", m.o.Work.Value); err != nil {
		return err
	}
	if least := int64(m.plan.Params.RowBytes) * int64(m.plan.Params.Connections); m.plan.Work < least {
		return BadValue("work", m.o.Work.Value, fmt.Sprintf("every connection needs at least one row: %s", humanize.IBytes(uint64(least))))
	}
	return nil
}

// setWindow sets a trial's measured time, and a slice length that does not give too many slices.
func (m *maker) setWindow() error {
	const shortest = 20 * sliceLength
	switch {
	case m.o.Window.Value <= 0:
		return OutOfRange("window", m.o.Window.Value, "give a time such as 2s, or fixed work by --work")
	case m.o.Window.Value < shortest:
		return OutOfRange("window", m.o.Window.Value, fmt.Sprintf("the shortest window is %v", shortest))
	case m.o.Window.Value > maxTrialTime:
		return OutOfRange("window", m.o.Window.Value, fmt.Sprintf("the longest window is %v", maxTrialTime))
	case m.o.WarmUp.Given() && (m.o.WarmUp.Value < 0 || m.o.WarmUp.Value > maxTrialTime):
		return OutOfRange("warm-up", m.o.WarmUp.Value, fmt.Sprintf("give a time from 0 to %v, or leave it to the pilots", maxTrialTime))
	}
	all := m.o.Window.Value + max(m.o.WarmUp.Value, 0)
	m.plan.SliceLength = sliceLength * ((all + maxSlices*sliceLength - 1) / (maxSlices * sliceLength))
	return nil
}

// pilotShare divides a trial's fixed work: a pilot does that part to forecast the time. Less work would be mostly the
// slow beginning.
const pilotShare = 3

func (m *maker) setPilot() error {
	if m.plan.Work > 0 && m.plan.Measure == experiment.MeasureWorkload {
		least := int64(m.plan.Params.RowBytes) * int64(m.plan.Params.Connections)
		m.plan.PilotWork = max(m.plan.Work/pilotShare, min(least, m.plan.Work))
	}
	return nil
}

func (m *maker) setJudging() error {
	if m.o.MaxBlocks.Value < verdict.FirstAnalysis {
		return OutOfRange("max-blocks", m.o.MaxBlocks.Value, fmt.Sprintf("give %d blocks or more", verdict.FirstAnalysis))
	}
	if m.o.MaxBlocks.Value > maxBlocks {
		return OutOfRange("max-blocks", m.o.MaxBlocks.Value, fmt.Sprintf("a verdict can use at most %d blocks", maxBlocks))
	}
	if m.o.Budget.Value < 0 || m.o.Budget.Value > maxBudget {
		return OutOfRange("budget", m.o.Budget.Value, "give a time such as 10m, at most a year, or 0 for none")
	}
	if least, _ := m.plan.Duration(); m.plan.Budget > 0 && least > m.plan.Budget {
		return BadValue("budget", m.plan.Budget, fmt.Sprintf(
			"pilots and %d blocks, the fewest, take at least %v: give more, or a shorter --window or fewer --files",
			verdict.FirstAnalysis, least.Round(time.Second)))
	}
	m.plan.Bounds = usefulBounds
	return m.o.JudgeOptions.Apply(&m.plan)
}

func (m *maker) setSeed() (err error) {
	if m.o.Seed.Value == "" {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return fmt.Errorf("draw a seed: %w", err)
		}
		m.plan.Seed = binary.LittleEndian.Uint64(b[:]) >> 33 // short enough to type
		return nil
	}
	if m.plan.Seed, err = strconv.ParseUint(m.o.Seed.Value, 10, 64); err != nil {
		return BadValue("seed", strconv.Quote(m.o.Seed.Value), "give a whole number from 0 to 18446744073709551615")
	}
	return nil
}
