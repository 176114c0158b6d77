// Which file of tests left an object on a control plane that all files share: one of those that ran when it was made.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileTimes } from './place.ts'

const maxNames = 5

/** `made`: milliseconds of its `creationTimestamp`, which has whole seconds. */
export type ClusterObject = { readonly plural: string; readonly name: string; readonly made: number }
type FileTimes = { readonly file: string; readonly begun: number; readonly ended: number }

/** When each file of tests of a run began and ended, by what own-folder.ts wrote. */
export async function timesOfFiles(runFolder: string): Promise<readonly FileTimes[]> {
  const text = await readFile(join(runFolder, fileTimes), 'utf8').catch(() => '')
  const seen = new Map<string, FileTimes>()
  for (const line of text.split('\n').filter(Boolean)) {
    const { file, at } = JSON.parse(line) as { readonly file: string; readonly at: number }
    const begun = seen.get(file)?.begun ?? at
    seen.set(file, { file, begun, ended: begun === at ? Number.POSITIVE_INFINITY : at })
  }
  return [...seen.values()]
}

/**
 * A line for each kind and the files that ran when its objects were made. A tenant's namespaces are its own, and are not
 * named beside it.
 */
export function leftBehindLines(
  before: readonly ClusterObject[],
  after: readonly ClusterObject[],
  files: readonly FileTimes[],
): readonly string[] {
  const key = ({ plural, name }: ClusterObject): string => `${plural}/${name}`
  const stood = new Set(before.map(key))
  const made = after.filter(one => !stood.has(key(one)))
  const tenants = made.filter(({ plural }) => plural === 'tenants').map(({ name }) => name)
  const isOfTenant = (name: string): boolean => tenants.some(tenant => name === tenant || name.startsWith(`${tenant}-`))
  const left = made.filter(({ plural, name }) => plural !== 'namespaces' || !isOfTenant(name))
  const owners = ({ made: at }: ClusterObject): string => {
    const ran = files.filter(({ begun, ended }) => begun < at + 1000 && at < ended).map(({ file }) => file)
    return ran.length === 0 ? 'a test' : ran.join(' or ')
  }
  return [...Map.groupBy(left, one => `${owners(one)}: ${one.plural}`)].map(([what, objects]) => {
    const names = objects.map(({ name }) => name)
    return `left behind: ${what} ${names.slice(0, maxNames).join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}`
  })
}
