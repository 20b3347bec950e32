package dialect

import (
	"filewise"
	"filewise/engine/internal/operations"
	"filewise/engine/internal/script"
	"filewise/engine/internal/server"
)

// Writer returns a writer of a trial's steps. Sessions' steps are sections of the workload's SQL, rendered for the
// first table. Missing sections are skipped.
func (s Schema) Writer(on string) *script.Writer {
	return script.NewWriter(on, func(section string) ([]string, error) {
		all, err := s.ofPhase(section).ifAny(section, s.Tables[0])
		for i, text := range all {
			text, _ = positional(text)
			all[i] = ShortenPool(text)
		}
		return all, err
	})
}

// ofPhase returns the schema with the settings of the phase that executes a section.
func (s Schema) ofPhase(section string) Schema {
	for _, p := range s.Program.Phases {
		for _, one := range operations.SectionsOf(p) {
			if operations.Section(p, one) == section {
				return s.forPhase(p)
			}
		}
	}
	return s
}

// WriteLoad writes the statements of a batch of the first table, and the statements after the last batch.
func (s Schema) WriteLoad(w *script.Writer, on string) {
	if !s.Program.Loads() {
		return
	}
	load := loadData(in(s.Database, s.Tables[0].Name), "rows of a batch", s.Program.Table().Columns, true)
	w.Add(filewise.StageLoad, on, "START TRANSACTION", s.markBatch(), load, "COMMIT")
	for _, t := range s.Tables {
		all, err := s.afterLoad(t)
		w.AddAll(filewise.StageLoad, on, append(all, s.analyze(t)), err)
	}
}

// WriteWork writes what a trial executes on the loaded server: sessions, phases and check. Settling and dropping are
// not included.
func (s Schema) WriteWork(w *script.Writer, on string) {
	if s.Program.Custom != nil {
		CustomRules.Write(w, on, s.Program, "BEGIN", "COMMIT")
		return
	}
	w.Sections(filewise.StageWarmUp, SectionConnection)
	if s.Program.Churns() {
		all, err := s.churnStatements("1", s.firstSpot())
		w.AddAll(filewise.StageMeasure, on, all, err)
	}
	w.Work(s.Program, func(filewise.Phase) {}) // other acts send nothing to a session
	w.Checks(sections[s.Program.SQL()].Sections())
}

// Programs that make and restore logical dumps with several threads.
var (
	Mydumper = server.Binary{Names: []string{"mydumper"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: "mydumper"}
	Myloader = server.Binary{Names: []string{"myloader"}, Places: Mydumper.Places, Package: Mydumper.Package}
)

// CheckIndexes refuses layouts of indexes that InnoDB cannot have.
func CheckIndexes(l filewise.Layout) error {
	if l.Indexes != "" || l.IndexVolume != "" {
		return unsupported("leave --indexes and --index-volume out",
			"an index of InnoDB lies in the tablespace of its table: it cannot have separate files, so there is nothing to compare")
	}
	return nil
}
