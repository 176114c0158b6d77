// How Kubernetes finds out whether a process has started, is alive and is ready: by an HTTP path or by a command, each with its
// times.
// Source: https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
import { exactlyOneOf, integer, list, object, optional, text } from '../../schema/schema.ts'

/** A path of HTTP requests. */
export const healthPathOptions = { max: 512, pattern: '^/[^ ]*$' } as const

/**
 * What the kubelet sends with a check by HTTP. Bounded, of visible ASCII: Kubernetes itself checks the name only.
 * Source: https://www.rfc-editor.org/rfc/rfc9110#section-5
 */
export const healthHeadersField = list(
  object(
    {
      name: text({ description: 'The name of the header.', max: 64, pattern: '^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$' }),
      value: text({ description: 'Its value.', min: 0, max: 256, pattern: '^([!-~]([ -~]*[!-~])?)?$' }),
    },
    { description: 'One header.' },
  ),
  {
    description:
      'Headers that checks by HTTP send (`healthPath`, and `probes` with a path). A check comes from the node, by the address of the pod and without TLS: `X-Forwarded-Proto: https` keeps an application from redirecting it to https, and `Host` names the host of an application that answers no other.',
    max: 8,
    unique: ['name'],
  },
)

/** What one kind of probe does unless the Application says otherwise. */
type ProbeDefaults = { readonly description: string; readonly periodSeconds: number; readonly failureThreshold: number }

function probeField({ description, periodSeconds, failureThreshold }: ProbeDefaults) {
  return object(
    {
      path: optional(
        text({
          ...healthPathOptions,
          description: 'The path of an HTTP endpoint on the port of the process. A status from 200 to 399 is a success.',
        }),
      ),
      command: optional(
        list(text({ description: 'The program, or one of its arguments.', max: 1024 }), {
          description: 'A command in the container. The exit code 0 is a success.',
          min: 1,
          max: 16,
        }),
      ),
      periodSeconds: integer({
        description: 'The time between two checks, in seconds.',
        min: 1,
        max: 300,
        default: periodSeconds,
      }),
      timeoutSeconds: integer({ description: 'How long one check may take, in seconds.', min: 1, max: 60, default: 2 }),
      failureThreshold: integer({
        description: 'The number of failures in a row after which the check counts as failed.',
        min: 1,
        max: 120,
        default: failureThreshold,
      }),
    },
    { description, rules: [exactlyOneOf(['path', 'command'], 'set exactly one of path and command')] },
  )
}

/** The three probes of a process; one that is omitted is not made, except for `readiness` (see `healthPath`). */
export const probesField = object(
  {
    startup: optional(
      probeField({
        description:
          'Until this check succeeds for the first time, the other two wait. For processes that start slowly: they have `periodSeconds` × `failureThreshold` to start, and are then restarted.',
        periodSeconds: 2,
        failureThreshold: 30,
      }),
    ),
    liveness: optional(
      probeField({
        description: 'The pod is restarted when this check fails. It must not depend on other services, such as a database.',
        periodSeconds: 10,
        failureThreshold: 3,
      }),
    ),
    readiness: optional(
      probeField({
        description: 'Requests reach the pod only while this check succeeds. The long form of `healthPath`.',
        periodSeconds: 1,
        failureThreshold: 3,
      }),
    ),
  },
  { description: 'How the platform finds out whether the process has started, is alive and is ready for requests.' },
)
