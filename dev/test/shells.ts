// The shells whose completion the unit tests execute. They are installed where `make up` installs packages anyway; elsewhere
// those tests are skipped, and say so.
import { messageOf } from '../../src/lib/errors.ts'
import { type DebianPackage, installCommand, installMissing, missingPackages } from '../cluster/node/packages.ts'
import type { Progress } from '../cluster/progress.ts'

const shells: readonly DebianPackage[] = [
  { name: 'zsh', program: '/usr/bin/zsh', why: 'its completion is tested' },
  { name: 'fish', program: '/usr/bin/fish', why: 'its completion is tested' },
]

/** Never rejects: without them two tests are skipped. */
export async function installShells(progress: Progress, mayInstall: boolean): Promise<void> {
  const missing = await missingPackages(shells)
  if (missing.length === 0) return
  const skipped = `the completion of ${missing.map(({ name }) => name).join(' and ')} is not tested: ${installCommand(missing)}`
  if (!mayInstall) return progress.note(skipped)
  try {
    await installMissing(progress, missing)
  } catch (error) {
    progress.note(`${skipped} (${messageOf(error)})`)
  }
}
