// A folder of files without a program: it is served as it is.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAppFiles } from '../shared/app-files.ts'
import { BuildFailure } from '../shared/build-failure.ts'
import type { BuildContext } from '../shared/config.ts'
import { launchDescription } from '../shared/launch.ts'
import { parseProcfile } from '../shared/procfile.ts'
import { describeSite, findSite, serveSite } from '../shared/static-site/find-site.ts'

/** @throws BuildFailure whose message is for the app's owner */
export function buildSite(context: BuildContext): void {
  const { appFolder, layersFolder, say } = context
  const files = openAppFiles(appFolder)
  const site = findSite(files, true)
  if (site === undefined)
    throw new BuildFailure('there is no index.html in the root folder, or in dist, build, out, _site or public')
  if (parseProcfile(files.read('Procfile') ?? '').size > 0)
    throw new BuildFailure(
      'a static site has no programs that a Procfile could start: remove the Procfile, or add a package.json or requirements.txt',
    )
  say(describeSite(site))
  writeFileSync(join(layersFolder, 'launch.toml'), launchDescription([serveSite(context, site)]))
}
