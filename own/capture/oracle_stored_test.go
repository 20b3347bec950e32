package capture

import (
	"testing"

	"filewise"
)

// Values are stored as in the vendor's reference and as in published dumps.
func TestStored(t *testing.T) {
	for digits, want := range map[string]string{"80": "0", "C102": "1", "C202": "100", "C20B": "1000", "C3020304": "10203", "C0330B": "0.501",
		"BF0B": "0.001", "C102330B": "1.501", "3E6466": "-1", "3D5B66": "-1000", "": "", "XX": ""} {
		if got := stored(filewise.TypeNumber, digits); got != want {
			t.Errorf("number %s: %s instead of %s", digits, got, want)
		}
	}
	for digits, want := range map[string]string{"787E0B170D0E0F": "2026-11-23 12:13:14", "77C60C1F18": "",
		"787E0101010101075BCD15": "2026-01-01 00:00:00"} {
		if got := stored(filewise.TypeTime, digits); got != want {
			t.Errorf("moment %s: %s instead of %s", digits, got, want)
		}
	}
	if got := stored(filewise.TypeText, "6F70656E"); got != "open" {
		t.Errorf("%s", got)
	}
}
