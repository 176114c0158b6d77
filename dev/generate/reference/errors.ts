// docs/reference/errors.md: error codes, reasons of refusals, and exit codes of the command line, from the closed lists in the
// code.
import { exitCodes } from '../../../src/cli/output.ts'
import { githubReasonTexts } from '../../../src/github/index.ts'
import { errorCodes } from '../../../src/lib/errors.ts'
import { refusalTexts } from '../../../src/services/token-desk/checks.ts'
import { code, page, table } from '../markdown.ts'

const exitCodeTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  failed: 'The command failed. The line on standard error says why.',
  usage: 'The command or its arguments are wrong.',
  signIn: 'You are not signed in, or not any more: run `sekisho login`.',
  notVerified: 'The audit log does not verify: it was changed, or its signature does not match.',
  truncated:
    'The audit log verifies, but entries are missing that a signed checkpoint attests: lost in a crash, or removed. Nobody acknowledged it yet.',
  buildFailed: 'The build that `sekisho builds logs --follow` followed did not succeed. The line on standard error says why.',
}

function reasons(texts: Readonly<Record<string, string>>): string {
  return table(
    ['Reason', 'Meaning'],
    Object.entries(texts).map(([name, text]) => [code(name), text]),
  )
}

const answerShape = `The HTTP interfaces of the platform answer an error as JSON; in a browser it is a page with the same facts.

\`\`\`json
{"error": {"code": "not_found", "message": "there is no audit log that you may read", "requestId": "6f1c…"}}
\`\`\`

The message says what happened where the table says so; otherwise it is a general sentence, and the log of the process has the details under
the request id. Messages never contain tokens.`

/** The page as Markdown. */
export function errorsPage(): string {
  return page({
    title: 'Errors',
    subject: 'This page lists the error codes, the reasons of refused requests and the exit codes of Sekisho.',
    source: '`src/lib/errors.ts`, `src/github`, `src/services/token-desk` and `src/cli`',
    sections: [
      'Reasons in the conditions of objects are in [kinds.md](kinds.md), in the section of each kind.',
      '## Error codes',
      answerShape,
      table(
        ['Code', 'HTTP status', 'Message is specific', 'Meaning'],
        Object.entries(errorCodes).map(([name, { status, expose, description }]) => [
          code(name),
          String(status),
          expose ? 'yes' : 'no',
          description,
        ]),
      ),
      '## Reasons of requests to GitHub',
      'Errors of requests to GitHub have one of these reasons where the cause is known.',
      reasons(githubReasonTexts),
      '## Reasons of refused tokens',
      'The workload that requested the token only learns that it gets none (`forbidden`). The reason is in the field `details.check` of the audit event `token.refused`. `QuotaExceeded` there means that the tenant has used `spec.limits.tokensPerHour`.',
      reasons(refusalTexts),
      '## Exit codes of `sekisho`',
      table(
        ['Exit code', 'Meaning'],
        [
          ['0', 'The command succeeded.'],
          ...Object.entries(exitCodeTexts).map(([name, text]) => [String(exitCodes[name as keyof typeof exitCodes]), text]),
        ],
      ),
    ],
  })
}
