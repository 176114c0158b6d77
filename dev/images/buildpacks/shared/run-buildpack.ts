// Runs the build phase of a buildpack. Only this file sets the exit code.
import { openAppFiles } from './app-files.ts'
import { BuildFailure, failureLine } from './build-failure.ts'
import { type BuildContext, readContext } from './config.ts'
import { parseProcfile, procfileLimit, releaseNote } from './procfile.ts'

type Options = {
  /** Whether it builds one application of a larger folder (`spec.build.root`). */
  readonly buildsWorkspaces?: boolean
  /** It adds to what another buildpack builds and starts. */
  readonly startsNothing?: boolean
}

/** A defect of the buildpack ends the process with its stack; a failure of the app ends it with the sentence for its owner. */
export function runBuildpack(name: string, build: (context: BuildContext) => void, options: Options = {}): void {
  try {
    const context = readContext(name)
    if (context.application.folder !== '.' && options.buildsWorkspaces !== true && options.startsNothing !== true)
      throw new BuildFailure(
        'spec.build.root is for workspaces of npm, pnpm and yarn: remove it, and spec.subPath alone builds the folder of the application',
      )
    build(context)
    if (options.startsNothing !== true) noteRelease(context)
  } catch (error) {
    if (!(error instanceof BuildFailure)) throw error
    console.log(failureLine(name, error))
    process.exitCode = 1
  }
}

function noteRelease({ appFolder, application, say }: BuildContext): void {
  const procfile = openAppFiles(appFolder, application.folder).read('Procfile', procfileLimit) ?? ''
  const note = releaseNote(parseProcfile(procfile), application.hasReleaseJob)
  if (note !== undefined) say(note)
}
