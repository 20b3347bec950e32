package plan

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"filewise"
)

// fitLoaded sizes files that an engine fills one after the other so that loaded
// data, which transactions work on for the length of a window, reach the last one:
// unless the user says otherwise.
func (m *maker) fitLoaded(l *filewise.Layout) error {
	sizer, ok := m.Engine.(filewise.Sizer)
	if !ok || m.work.Appends() || m.fixed() || l.Kind != filewise.KindSystem || m.o.Size.Given() {
		return nil
	}
	program, err := m.program()
	if err != nil {
		return err
	}
	bytes, err := sizer.LoadedBytes(m.plan.Target, program)
	if bytes > 0 {
		l.Data.Bytes = bytes
	}
	return err
}

// setFill sizes the work for engines that fill file after file: unless the user
// says otherwise, a trial has the fixed work that reaches every layout's last
// file. A window would end before, and N files be measured as one.
func (m *maker) setFill() error {
	if !m.work.Appends() || m.o.Work.Given() || m.o.Window.Given() {
		return nil
	}
	filler, ok := m.Engine.(filewise.Filler)
	if !ok {
		return nil
	}
	program, err := m.program()
	if err != nil {
		return err
	}
	var least int64
	for _, l := range m.plan.Layouts {
		work, err := filler.FillWork(m.plan.Target, l, program)
		if err != nil {
			return Refused(m.Engine, l, err)
		}
		if work > 0 && (least == 0 || work < least) {
			least = work
		}
	}
	if least == 0 {
		return nil
	}
	if least -= m.plan.Preload; least <= 0 {
		return BadValue("preload", m.o.Preload.Value, "it fills the files already: make --size larger")
	}
	if m.o.WarmUp.Value >= 0 {
		return badUse("warm-up", m.o.WarmUp.Value, fmt.Sprintf(
			"the work of a trial is fixed here (%s, to fill the files) and has no warm-up: leave it out, or give a "+
				"--window", humanize.IBytes(uint64(least))))
	}
	m.plan.Window, m.plan.PilotWindow, m.plan.Work = 0, 0, least
	return nil
}
