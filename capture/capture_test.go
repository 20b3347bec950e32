package capture

import "testing"

// Columns of persons are known by their names; keys and states are not taken for them.
func TestPersonal(t *testing.T) {
	for column, want := range map[string]bool{"email": true, "customerName": true, "birth_date": true, "Geburtsname": true, "ip": true,
		"phone2": true, "user_id": false, "id": false, "status": false, "tax_id": true, "created_at": false, "shipped": false, "state": false,
		"region": false, "amount": false, "an_ort": true, "port": false, "ship": false} {
		if personal(column) != want {
			t.Errorf("%s: %v", column, !want)
		}
	}
}

// Names of tables are keys of YAML, whatever is in them.
func TestNamesAreKeys(t *testing.T) {
	for name, want := range map[string]string{"orders": "orders", "on": `"on"`, `Größe "x": #`: `"Größe \"x\": #"`, "7": `"7"`} {
		if got := named(name); got != want {
			t.Errorf("%s: %s instead of %s", name, got, want)
		}
	}
}
