// Whether this buildpack takes part (CNB buildpack specification, "Detection"). Pure.

const takesPart = 0
/** "The buildpack group does not apply": no error, another group may. */
const doesNotApply = 100

export function detectExitCode(hasPackageJson: boolean): number {
  return hasPackageJson ? takesPart : doesNotApply
}
