// Finds and removes mounts below a folder, which containers, pod volumes and network namespaces leave.
// It touches nothing outside the given folder.
import { readFile } from 'node:fs/promises'
import { runCommand, tryCommand } from '../run-command.ts'

/** Mount points at or below `folder`, innermost first, from the text of /proc/self/mountinfo (proc(5): octal escapes). */
export function mountsBelow(mountinfo: string, folder: string): readonly string[] {
  const points = mountinfo.split('\n').flatMap(line => {
    const point = line
      .split(' ')[4]
      ?.replace(/\\(\d{3})/g, (_all, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    return point !== undefined && (point === folder || point.startsWith(`${folder}/`)) ? [point] : []
  })
  return points.reverse()
}

/** Unmounts everything below the folder; a busy mount is detached and disappears with its last user. */
export async function unmountBelow(folder: string): Promise<number> {
  const points = mountsBelow(await readFile('/proc/self/mountinfo', 'utf8'), folder)
  for (const point of points) {
    const plain = await tryCommand('umount', [point])
    if (plain.code !== 0) await runCommand('umount', ['--lazy', point])
  }
  return points.length
}
