// Package planted makes storage of known speed: volumes on loop devices, throttled by a cgroup. Its tests run the whole
// of Filewise there, with the right answer known before anything is measured.
package planted
