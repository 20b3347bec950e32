package filesystem

import "testing"

func TestOpenTo(t *testing.T) {
	for sddl, want := range map[string]string{
		"O:S-1-5-21-1-2-3-1001G:S-1-5-21-1-2-3-513D:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;S-1-5-21-1-2-3-1001)": "",
		// As a data drive's root gives them to what is made below it.
		"O:BAG:SYD:AI(A;ID;FA;;;BA)(A;ID;FA;;;SY)(A;ID;0x1301bf;;;AU)(A;ID;0x1200a9;;;BU)": "Authenticated Users",
		"O:BAG:SYD:(A;;0x1200a9;;;BU)":             "Users",
		"O:BAG:SYD:(A;OICIIO;FA;;;WD)":             "",         // of what is made below alone
		"O:BAG:SYD:(A;;0x120080;;;WD)":             "",         // attributes alone
		"O:BAG:SYD:(D;;FR;;;BU)(A;;FR;;;BU)":       "",         // denied before
		"O:BAG:SYD:(A;;FR;;;BU)(D;;FR;;;BU)":       "Users",    // allowed before
		"O:BAG:SYD:(A;;CCDC;;;WD)S:(AU;;FA;;;WD)":  "Everyone", // what is audited is no right
		"O:BAG:SYD:P(A;;FA;;;BA)S:(AU;SA;FA;;;WD)": "",
		"O:BAG:SYD:(A;;WO;;;S-1-5-21-7-8-9-513)":   "Domain Users",
		"O:BAG:SYD:NO_ACCESS_CONTROL":              "Everyone",
		"O:BAG:SY":                                 "Everyone",
	} {
		if got := openTo(sddl); got != want {
			t.Errorf("%s is open to %q, want %q", sddl, got, want)
		}
	}
	const me = "S-1-5-21-1-2-3-1001"
	for sddl, want := range map[string]string{"O:" + me + "G:SYD:": "", "O:BAG:SYD:": "", "O:S-1-5-80-1-2G:SYD:": "", "G:SYD:": "",
		"O:S-1-5-21-1-2-3-1002G:SYD:": "S-1-5-21-1-2-3-1002", "O:S-1-5-21-1-2-3-500G:SYD:": "", "O:BUG:SYD:": "BU",
		"O:" + me + "D:P(A;;FA;;;SY)": "", "O:S-1-5-21-1-2-3-1002D:": "S-1-5-21-1-2-3-1002"} {
		if got := foreign(sddl, me); got != want {
			t.Errorf("%s belongs to %q, want %q", sddl, got, want)
		}
	}
}
