// Whether an app is a static site, which folder is served, and by which process: a small server that is copied into a layer of
// the image.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { BuildFailure } from '../build-failure.ts'
import type { BuildContext } from '../config.ts'
import type { Process } from '../launch.ts'
import type { ServedSite } from './server.ts'

/** Where site generators and bundlers write, in the order in which they are looked for. */
const outputFolders = ['dist', 'build', 'out', '_site', 'public']
const index = 'index.html'

/** `root` is relative to the app. */
export type Site = ServedSite

/** `orRoot`: an index.html at the root of the app counts, too; in an app with a build script it is a source file. */
export function findSite(appFolder: string, orRoot = false): Site | undefined {
  const settings = readSettings(appFolder)
  const exists = (path: string): boolean => existsSync(join(appFolder, path, index))
  const root =
    settings.root ??
    outputFolders.flatMap(folder => [folder, ...nested(appFolder, folder)]).find(exists) ??
    (orRoot && exists('.') ? '.' : undefined)
  if (root === undefined) return undefined
  if (!existsSync(join(appFolder, root))) throw new BuildFailure(`static.json: there is no folder ${root} (root)`)
  const file = (name: string | undefined): string | undefined =>
    name !== undefined && existsSync(join(appFolder, root, name)) ? name : undefined
  return {
    root,
    fallback: settings.fallback === undefined ? file('200.html') : demanded(settings.fallback, file(settings.fallback)),
    notFound: file(settings.notFound ?? '404.html'),
    cleanUrls: settings.cleanUrls,
  }
}

function demanded(name: string, found: string | undefined): string {
  if (found !== undefined) return found
  throw new BuildFailure(`static.json: routes["/**"] names ${name}, and the site has no such file`)
}

/** Angular writes to `dist/<name>/browser`. */
function nested(appFolder: string, folder: string): readonly string[] {
  const path = join(appFolder, folder)
  if (folder !== 'dist' || !existsSync(path)) return []
  const names = readdirSync(path, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
  const [only] = names
  return only === undefined || names.length > 1 ? [] : [`${folder}/${only}/browser`, `${folder}/${only}`]
}

type Settings = { readonly root?: string; readonly fallback?: string; readonly notFound?: string; readonly cleanUrls: boolean }

/** `static.json`, as at https://github.com/heroku/heroku-buildpack-static; other keys are ignored. */
function readSettings(appFolder: string): Settings {
  const file = join(appFolder, 'static.json')
  if (!existsSync(file)) return { cleanUrls: false }
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new BuildFailure(`static.json is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const { root, routes, error_page: notFound, clean_urls: cleanUrls } = (value ?? {}) as Readonly<Record<string, unknown>>
  const fallback = ((routes ?? {}) as Readonly<Record<string, unknown>>)['/**']
  return {
    ...(root === undefined ? {} : { root: inside('root', root) }),
    ...(fallback === undefined ? {} : { fallback: inside('routes["/**"]', fallback) }),
    ...(notFound === undefined ? {} : { notFound: inside('error_page', notFound) }),
    cleanUrls: cleanUrls === true,
  }
}

function inside(name: string, value: unknown): string {
  const path = typeof value === 'string' ? value.replace(/^\/+|\/+$/g, '') : ''
  if (path !== '' && !path.split('/').includes('..')) return path
  throw new BuildFailure(`static.json: ${name} must be a path inside the app`)
}

export function describeSite({ root, fallback }: Site): string {
  const folder = root === '.' ? 'the root folder' : `folder ${root}`
  return `static site from ${folder}${fallback === undefined ? '' : `; paths without a file get ${fallback}`}`
}

/** Writes the layer of the server and returns its process. */
export function serveSite({ appFolder, layersFolder }: Pick<BuildContext, 'appFolder' | 'layersFolder'>, site: Site): Process {
  const layer = join(layersFolder, 'static-server')
  mkdirSync(layer, { recursive: true })
  writeFileSync(join(layer, 'server.mjs'), stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'server.ts'), 'utf8')))
  writeFileSync(join(layer, 'site.json'), JSON.stringify({ ...site, root: join(appFolder, site.root) }))
  writeFileSync(`${layer}.toml`, '[types]\nlaunch = true\n')
  return { type: 'web', command: ['node', join(layer, 'server.mjs')] }
}
