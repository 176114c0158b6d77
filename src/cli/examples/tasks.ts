// Examples of commands in pods of their own.
import type { Example } from './example.ts'

export const taskExamples: Readonly<Record<string, readonly Example[]>> = {
  run: [
    {
      line: 'sekisho run shop -- node migrate.js',
      does: 'run a migration and wait for its end',
      kubectl:
        'kubectl create of a Job with the pod of deployment shop-web (docs/guide/cli.md), kubectl logs -f, kubectl delete job',
    },
    { line: 'sekisho run -it shop node', does: 'a console: with a terminal of its own' },
    { line: 'sekisho run shop -- psql < dump.sql', does: 'pass a file to the command' },
  ],
  shell: [
    {
      line: 'sekisho shell shop',
      does: 'open a shell with the image and the environment of shop',
      kubectl: 'kubectl create of such a Job with stdin and tty, kubectl attach -it, kubectl delete job',
    },
  ],
}
