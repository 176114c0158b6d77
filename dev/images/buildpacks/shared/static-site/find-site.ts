// Whether an app is a static site, which folder is served by which rules, and by which process: a small server that is copied
// into a layer of the image.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AppFiles } from '../app-files.ts'
import { BuildFailure } from '../build-failure.ts'
import type { BuildContext } from '../config.ts'
import type { Process } from '../launch.ts'
import { listFiles } from './list-files.ts'
import type { RouteRule, ServedSite, SiteRules } from './server/site.ts'
import { readStaticSettings } from './settings.ts'

/** Where site generators and bundlers write, in the order in which they are looked for. */
const outputFolders = ['dist', 'build', 'out', '_site', 'public', 'public_html']
const index = 'index.html'

/** The server as one file, in the folder of a buildpack that serves sites. */
export const serverBundle = 'static-server.mjs'

export type Site = SiteRules & {
  /** Relative to the app. */
  readonly root: string
  /** What static.json asks for without effect. */
  readonly ignored: readonly string[]
}

/** `orRoot`: an index.html at the root of the app counts, too; in an app with a build script it is a source file. */
export function findSite(files: AppFiles, orRoot = false): Site | undefined {
  const { root: named, ignored, routes, notFound, ...rules } = readStaticSettings(files.read('static.json'))
  const hasIndex = (path: string): boolean => files.hasFile(`${path}/${index}`)
  const root =
    named ??
    outputFolders.flatMap(folder => [folder, ...nested(files, folder)]).find(hasIndex) ??
    (orRoot && hasIndex('.') ? '.' : undefined)
  if (root === undefined) return undefined
  const isFile = (name: string): boolean => files.hasFile(`${root}/${name}`)
  if (!files.hasFolder(root)) throw new BuildFailure(`static.json: there is no folder ${root} (root)`)
  for (const [key, name] of [...routes.map(rule => [`routes["${rule.pattern}"]`, rule.target]), ['error_page', notFound]])
    if (name !== undefined && !isFile(name))
      throw new BuildFailure(`static.json: ${key} names ${name}, and the site has no such file`)
  const fallback: readonly RouteRule[] = isFile('200.html') ? [{ pattern: '/**', target: '200.html' }] : []
  return {
    ...rules,
    root,
    ignored,
    routes: [...routes, ...fallback],
    notFound: notFound ?? (isFile('404.html') ? '404.html' : undefined),
  }
}

/** Angular writes to `dist/<name>/browser`. */
function nested(files: AppFiles, folder: string): readonly string[] {
  const names = folder === 'dist' ? files.foldersIn(folder) : []
  const [only] = names
  return only === undefined || names.length > 1 ? [] : [`${folder}/${only}/browser`, `${folder}/${only}`]
}

export function describeSite({ root, routes }: Site): string {
  const folder = root === '.' ? 'the root folder' : `folder ${root}`
  const fallback = routes.find(({ pattern, target }) => pattern === '/**' && target !== undefined)?.target
  return `static site from ${folder}${fallback === undefined ? '' : `; paths without a file get ${fallback}`}`
}

/** Writes the layer of the server and returns its process. */
export function serveSite(
  { appFolder, layersFolder, buildpackFolder, say }: Pick<BuildContext, 'appFolder' | 'layersFolder' | 'buildpackFolder' | 'say'>,
  { root, ignored, ...rules }: Site,
): Process {
  for (const line of ignored) say(line)
  const folder = join(appFolder, root)
  const served: ServedSite = { ...rules, folder, files: listFiles(folder) }
  say(`${served.files.length} files`)
  const layer = join(layersFolder, 'static-server')
  mkdirSync(layer, { recursive: true })
  copyFileSync(join(buildpackFolder, serverBundle), join(layer, 'server.mjs'))
  writeFileSync(join(layer, 'site.json'), JSON.stringify(served))
  writeFileSync(`${layer}.toml`, '[types]\nlaunch = true\n')
  return { type: 'web', command: ['node', join(layer, 'server.mjs')] }
}
