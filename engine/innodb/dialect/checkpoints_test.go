package dialect

import "testing"

// The log's rounds, by the names of both products; what neither reports is absent.
func TestCyclesOf(t *testing.T) {
	for name, x := range map[string]struct {
		values map[string]float64
		want   float64 // 0: absent
	}{
		"MariaDB":     {map[string]float64{"Innodb_lsn_current": 300, "Innodb_checkpoint_max_age": 200}, 1.5},
		"MySQL":       {map[string]float64{"Innodb_redo_log_current_lsn": 100, "Innodb_redo_log_capacity_resized": 400}, 0.25},
		"before both": {map[string]float64{}, 0},
		"no room":     {map[string]float64{"Innodb_lsn_current": 300, "Innodb_checkpoint_max_age": 0}, 0},
	} {
		got := cyclesOf(x.values)
		if (len(got) == 1) != (x.want > 0) || len(got) == 1 && got[0].Value != x.want {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}
