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
