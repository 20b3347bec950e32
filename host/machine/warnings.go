package machine

import (
	"fmt"
	"strings"

	"filewise"
)

// The codes of warnings about volumes.
const (
	WarnOneDevice = "one-device"
	WarnInMemory  = "in-memory"
	WarnNetwork   = "network-storage"
)

// networkTypes holds file systems on other machines, whose disks and other users cannot be seen from here.
var networkTypes = map[string]bool{"nfs": true, "nfs4": true, "cifs": true, "smb3": true, "smbfs": true,
	"ceph": true, "fuse.sshfs": true, "fuse.glusterfs": true, "glusterfs": true, "lustre": true, "9p": true, "virtiofs": true}

// Warnings returns warnings for results on these volumes. For a volume that cannot be read it returns none: preflight
// refuses the volume.
func Warnings(volumes []filewise.Volume) []filewise.Warning {
	var warnings []filewise.Warning
	var before []filewise.Volume
	var devices []Device
	for _, v := range volumes {
		d, err := DeviceOf(v.Dir)
		if err != nil {
			continue
		}
		warnings = append(warnings, aboutOne(v, d)...)
		for i, o := range devices {
			if d.Same(o) && !d.InMemory() {
				warnings = append(warnings, filewise.Warning{Code: WarnOneDevice,
					Message: fmt.Sprintf("Volumes %s and %s are on the same device (%v) and share its bandwidth.", before[i].Name, v.Name, d),
					Remedy:  "Put each volume on its own disk, or read the result as one volume's."})
				break
			}
		}
		before, devices = append(before, v), append(devices, d)
	}
	return warnings
}

func aboutOne(v filewise.Volume, d Device) []filewise.Warning {
	switch {
	case d.InMemory():
		return []filewise.Warning{{Code: WarnInMemory,
			Message: fmt.Sprintf("Volume %s (%s) lies in memory (%v): no storage is measured.", v.Name, v.Dir, d),
			Remedy:  "Name a directory on a disk with --volume NAME=DIR."}}
	case networkTypes[d.Mount.Type] || strings.HasPrefix(d.Mount.Type, "remote"): // as deviceAt reports it on Windows
		return []filewise.Warning{{Code: WarnNetwork,
			Message: fmt.Sprintf("Volume %s (%s) lies on a network file system (%s): other users of its server are part of what is measured.",
				v.Name, v.Dir, d.Mount.Type),
			Remedy: "Measure while the server is otherwise idle, or name a local directory with --volume NAME=DIR."}}
	}
	return nil
}
