// Package wrong has a call that does not fit its text, which go vet must report.
package wrong

import "fmt"

func Wrong() {
	fmt.Printf("%d\n", "text")
}
