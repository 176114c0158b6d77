// Questions about a path whose answer is yes or no.
import { access, constants } from 'node:fs/promises'

/** Whether this user may use the path in this way; without a mode, whether the path exists. */
export async function isAccessible(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
