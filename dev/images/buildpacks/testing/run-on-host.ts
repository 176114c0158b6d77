// Runs a buildpack as the lifecycle does, on this machine: detect and build in a copy of an app, with folders for layers and
// platform.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleStaticServer } from '../../bundle-static-server.ts'
import { serverBundle } from '../shared/static-site/find-site.ts'

export type Files = Readonly<Record<string, string>>

export type HostBuild = {
  readonly code: number | null
  /** The build's log. */
  readonly log: string
  readonly launch: string
  readonly appFolder: string
  readonly layersFolder: string
}

export type HostWorkshop = {
  /** Builds the app again when it is called again: the layers stay. `bindings`: secret → key → value. */
  readonly build: (buildpack: string, environment?: Files, bindings?: Readonly<Record<string, Files>>) => HostBuild
  readonly detects: (buildpack: string) => boolean
  readonly write: (files: Files) => void
  readonly appFolder: string
  readonly remove: () => void
}

const home = join(import.meta.dirname, '..')
/** What the recipe of an image puts beside a buildpack. */
const server = await bundleStaticServer()
/** Long enough for a registry of packages that answers slowly. */
const timeout = 180_000

export function openWorkshop(files: Files): HostWorkshop {
  const scratch = mkdtempSync(join(tmpdir(), 'sekisho-buildpack-'))
  const folder = (name: string): string => {
    const path = join(scratch, name)
    mkdirSync(path, { recursive: true })
    return path
  }
  const appFolder = folder('workspace')
  const layersFolder = folder('layers')
  const write = (more: Files): void => {
    for (const [path, text] of Object.entries(more)) {
      mkdirSync(dirname(join(appFolder, path)), { recursive: true })
      writeFileSync(join(appFolder, path), text)
    }
  }
  write(files)
  writeFileSync(join(folder('buildpack'), serverBundle), server)
  return {
    appFolder,
    write,
    detects: buildpack => spawnSync('sh', [join(home, buildpack, 'bin', 'detect')], { cwd: appFolder }).status === 0,
    build(buildpack, environment = {}, bindings = {}) {
      const folders = {
        CNB_LAYERS_DIR: layersFolder,
        CNB_PLATFORM_DIR: folder('platform'),
        CNB_BUILDPACK_DIR: folder('buildpack'),
      }
      for (const [name, keys] of Object.entries(bindings))
        for (const [key, value] of Object.entries(keys)) writeFileSync(join(folder(`platform/bindings/${name}`), key), value)
      // biome-ignore lint/style/noProcessEnv: the lifecycle passes its environment on
      const { NODE_ENV, npm_config_loglevel, ...machine } = process.env
      const env = { ...machine, HOME: folder('home'), ...folders, ...environment }
      // One stream, as in a pod.
      const command = `exec "${process.execPath}" --disable-warning=ExperimentalWarning "${join(home, buildpack, 'bin', 'build')}" 2>&1`
      const build = spawnSync('sh', ['-c', command], { cwd: appFolder, env, encoding: 'utf8', timeout })
      const launch = join(layersFolder, 'launch.toml')
      return {
        code: build.status,
        log: build.stdout,
        launch: existsSync(launch) ? readFileSync(launch, 'utf8') : '',
        appFolder,
        layersFolder,
      }
    },
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  }
}
