// The application notes of the example: what dave runs for it, and the newest commit and page that must be served.
import { join } from 'node:path'
import type { Application } from '../../../../src/api/apps/application.ts'
import type { DemoContext } from '../../context.ts'
import { pushExample } from '../../push.ts'
import { mustRun, type Result, run } from '../../tools.ts'
import { untilContains } from '../deploy.ts'

export type Notes = ReturnType<typeof notesOf>

/** dave's commands, and what he expects of the URL. */
export function notesOf(demo: DemoContext) {
  const { dave } = demo.people
  let served = { note: '', commit: '' }
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(dave, demo.tools.kubectl, args, input === undefined ? {} : { input })
  const sekisho = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(dave, demo.tools.sekisho, args, input === undefined ? {} : { input })
  const application = async (name = 'notes'): Promise<Application> =>
    JSON.parse(await kubectl(['get', 'application', name, '-o', 'json']))

  /** Pushes the example with another note, and with these files; resolves to the commit. */
  const push = (note: string, files: Readonly<Record<string, string>> = {}): Promise<string> =>
    pushExample(demo, dave, {
      name: 'notes',
      message: note,
      files: { 'notes.json': `${JSON.stringify(['Buy green tea', note])}\n`, ...files },
    })

  return {
    kubectl,
    sekisho,
    application,
    push,
    /** As `kubectl`, whether it succeeds or not. */
    attempt: (args: readonly string[]): Promise<Result> => run(dave, demo.tools.kubectl, args),
    why: (): Promise<Result> => run(dave, demo.tools.sekisho, ['why', 'application/notes']),
    example: (path: string): string => join(demo.repository, 'deploy/examples', path),
    /** Pushes a note that must be served from then on; resolves to the commit. */
    async pushServed(note: string): Promise<string> {
      const commit = await push(note)
      served = { note, commit }
      return commit
    },
    /**
     * Awaits that the URL serves the newest note that was pushed with `pushServed`; resolves to the URL and the answer of
     * `/version`.
     */
    async stillServed(): Promise<{ readonly url: string; readonly version: string }> {
      const url = (await application()).status?.url ?? ''
      const version = await untilContains(dave, `${url}/version`, served.commit)
      await untilContains(dave, `${url}/`, `<li>${served.note}</li>`)
      return { url, version }
    },
  }
}
