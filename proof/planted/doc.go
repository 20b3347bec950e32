// Package planted makes storage of known speed: volumes on loop devices, throttled by a cgroup. Its
// tests take the whole of Filewise there, where the right answer is known before anything is measured.
package planted
