package plan

import (
	"filewise"
)

// CheckOptions holds the options by which a run tests and steadies itself.
type CheckOptions struct {
	AA          Opt[bool]
	Calibrate   Opt[bool]
	Interleaved Opt[bool]
	Rounds      Opt[int]
}

// Table returns the rows of these options.
func (o *CheckOptions) Table() []Option {
	return []Option{
		Row(&o.AA, "aa", false, "measure the baseline under two names: a difference is the machine's"),
		Row(&o.Calibrate, "calibrate", false, "time synced writes before each trial and adjust for them, on drifting storage"),
		Row(&o.Interleaved, "interleave", true, "alternate short turns of layouts, so that drift affects all equally"),
		Row(&o.Rounds, "rounds", 0, "`ROUNDS` of an interleaved block, from 2"),
	}
}

// setChecks sets the calibration and the A/A check. It needs the baseline.
func (m *maker) setChecks() (err error) {
	if m.o.Calibrate.Value && m.plan.Target.Mode == filewise.External {
		return badUse("calibrate", true, "it writes to the volumes itself, which are the server's here: leave it out")
	}
	m.plan.Calibrate = m.o.Calibrate.Value
	if !m.o.AA.Value {
		return nil
	}
	if len(m.plan.Layouts) >= maxLayouts {
		return BadValue("aa", true, "it is one layout more than can be compared: give fewer")
	}
	if m.plan, err = m.plan.WithAA(); err != nil {
		return filewise.Errorf(filewise.CodeUsage, "give that layout another name", "--aa: %w", err)
	}
	return nil
}

// setSessions decides whether layouts take turns. It comes after all steps that set a trial's measures.
func (m *maker) setInterleaved() error {
	o := &m.o.CheckOptions
	switch {
	case o.Rounds.Given() && o.Rounds.Value == 0:
		return OutOfRange("rounds", 0, "give 2 or more rounds, or leave it out")
	case o.Rounds.Given() && !o.Interleaved.Value:
		return BadValue("interleave", false, "--rounds is the number of rounds of an interleaved block: leave one of them out")
	case !o.Interleaved.Value:
		return nil
	case m.plan.Target.Database != "":
		m.plan.OneByOne = "each backup is a trial"
		return nil
	case m.plan.Target.Mode == filewise.External && m.o.From.Value != "":
		m.plan.OneByOne = "each trial begins with a restored copy"
		return nil
	}
	m.plan.Rounds = o.Rounds.Value
	program, err := m.program()
	if err != nil {
		return err
	}
	if err := m.plan.CheckRounds(program); err != nil {
		return err
	}
	if m.plan.OneByOne, _ = m.plan.CannotTakeTurns(program); m.plan.OneByOne != "" {
		return nil
	}
	m.plan.Interleaved = true
	m.plan.WindowByPilots = !m.o.Window.Given() && m.plan.Work == 0
	if m.plan.Work > 0 && m.plan.Budget > 0 && !m.o.MaxBlocks.Given() && m.plan.AsPublished == nil {
		m.plan.MaxBlocks = fixedWorkBlocks // pilots cannot lengthen its blocks, so the budget ends them
	}
	return nil
}
