package store

import (
	"os"
	"path/filepath"
	"testing"

	"filewise"
)

// A store of the first schema is brought up to date, with all that is in it.
func TestMigratesTheFirstSchema(t *testing.T) {
	old := database(t, sampleStore(t), "ALTER TABLE measures DROP COLUMN errors", "ALTER TABLE measures DROP COLUMN types",
		"ALTER TABLE measures DROP COLUMN turns",
		"ALTER TABLE measures DROP COLUMN connections", "ALTER TABLE measures DROP COLUMN paced", "ALTER TABLE runs DROP COLUMN origin",
		"ALTER TABLE measures DROP COLUMN rest", "ALTER TABLE runs DROP COLUMN decisions",
		"DELETE FROM goose_db_version WHERE version_id >= 2", "PRAGMA user_version = 1")
	path := filepath.Join(t.TempDir(), "old.db")
	must(t, os.WriteFile(path, old, 0o600))
	s, err := Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	id := newRun(t, s)
	must(t, s.AddTrial(t.Context(), id, sampleTrial(1)))
	runs, err := s.Runs(t.Context())
	must(t, err)
	if len(runs) < 2 {
		t.Fatalf("%d runs, the old one and a new one were stored", len(runs))
	}
	found := 0
	for _, r := range runs {
		trials, err := s.Trials(t.Context(), r.ID)
		must(t, err)
		for _, tr := range trials {
			n := tr.Measures[0].Errors[filewise.ClassDeadlock]
			if types := tr.Measures[0].Types; (len(types) == 2) != (r.ID == id) {
				t.Errorf("run %d has types %v", r.ID, types)
			}
			if (n == 3) != (r.ID == id) || n != 3 && tr.Measures[0].Errors != nil {
				t.Errorf("run %d has failures %v", r.ID, tr.Measures[0].Errors)
			}
			found++
		}
	}
	if found < 2 {
		t.Errorf("only %d trials are left", found)
	}
}
