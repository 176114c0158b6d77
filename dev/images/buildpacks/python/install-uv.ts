// Installs what uv.lock says, by uv itself.
// Source: https://docs.astral.sh/uv/concepts/projects/sync/ , https://docs.astral.sh/uv/reference/environment/
import { join } from 'node:path'
import type { BuildContext } from '../shared/config.ts'
import { cacheLayer, type PackageFolder } from './environment.ts'
import type { Project } from './project.ts'
import { installItself, sayVersion } from './project-itself.ts'
import { installTool } from './tools.ts'

export function installByUv(context: BuildContext, packages: PackageFolder, project: Project | undefined): void {
  const { environment, layersFolder } = context
  const uv = join(installTool(context, packages, 'uv', project?.uvVersion), 'uv')
  const variables = {
    UV_PROJECT_ENVIRONMENT: packages.folder,
    UV_PYTHON: join(packages.folder, 'bin', 'python'),
    UV_PYTHON_DOWNLOADS: 'never',
    UV_CACHE_DIR: cacheLayer(layersFolder, 'uv-cache'),
    UV_LINK_MODE: 'copy',
    UV_COMPILE_BYTECODE: '1',
    UV_NO_PROGRESS: '1',
    ...(environment['PIP_INDEX_URL'] === undefined ? {} : { UV_DEFAULT_INDEX: environment['PIP_INDEX_URL'] }),
  }
  const sync = [uv, 'sync', '--locked', '--no-dev'] as const
  packages.run([...sync, '--no-install-project'], variables, output =>
    /lockfile at `?uv\.lock`? needs to be updated|needs to be updated, but `--locked`/.test(output)
      ? 'uv.lock does not agree with pyproject.toml: run "uv lock" and commit uv.lock'
      : /Failed to parse `?uv\.lock|TOML parse error/.test(output)
        ? 'uv.lock cannot be read: run "uv lock" and commit uv.lock'
        : undefined,
  )
  sayVersion(context, project)
  installItself(context, { ...packages, variables: { ...packages.variables, ...variables } }, project, sync)
}
