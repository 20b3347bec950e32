package experiment

import "testing"

// A warning of several trials has the range of their numbers, and one of several layouts their number.
func TestTogether(t *testing.T) {
	for want, all := range map[string][]trialMessage{
		"Other processes used 26 to 46 % of the CPU (limit 20 %).": {
			{"Other processes used 45 % of the CPU (limit 20 %).", "1 file"}, {"Other processes used 26 % of the CPU (limit 20 %).", "4 files"},
			{"Other processes used 46 % of the CPU (limit 20 %).", "1 file"}},
		"The data of 2 layouts grew to 129 to 1,132 MiB.": {
			{"The data of 1 partition grew to 1,132 MiB.", "1 partition"}, {"The data of 2 partitions grew to 129 MiB.", "2 partitions"}},
		"1 file grew to 132 MiB.": {{"1 file grew to 132 MiB.", "1 file"}, {"1 file grew to 132 MiB.", "1 file"}},
		"It took 1.4 s.":          {{"It took 1.4 s.", "a"}, {"It took 900 ms.", "b"}},
	} {
		if got := together(all); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
