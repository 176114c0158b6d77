// ApplicationChart: the cdk8s chart that turns an Application into Kubernetes objects. It is either built into the product or
// source code in a ConfigMap of the platform namespace.
import { ageColumn, defineKind, type ObjectOf, readyColumns } from '../kind.ts'
import { defineReasons } from '../reasons/reason.ts'
import { dnsLabel } from '../schema/fields.ts'
import { exactlyOneOf, integer, object, optional, text } from '../schema/schema.ts'

const reasons = defineReasons(
  {
    ready: {
      Loaded: 'The chart loads.',
    },
    person: {
      ConfigMapMissing: 'The ConfigMap or its key does not exist in the platform namespace. Create it there.',
    },
    failed: {
      UnknownBuiltInChart: '`spec.builtIn` does not name a chart of this version. The message lists the charts that exist.',
      ChartDoesNotLoad: 'The code has an error or does not export `chart`. The message names the error.',
    },
  },
  { unknownBuiltIn: 'UnknownBuiltInChart', doesNotLoad: 'ChartDoesNotLoad' },
)

/** Reasons of the condition Ready. */
export const applicationChartReasons = reasons.names

export const applicationChart = defineKind({
  group: 'apps',
  kind: 'ApplicationChart',
  plural: 'applicationcharts',
  shortNames: ['achart'],
  scope: 'Cluster',
  adminAccess: 'write',
  description: 'The code that turns an Application into Kubernetes objects. Applications choose a chart with `spec.chart`.',
  writtenBy: 'Platform admins. The installation contains the chart `web`.',
  spec: object(
    {
      builtIn: optional(
        text({ description: 'The name of a chart that is part of the product: `web`.', max: 63, pattern: dnsLabel }),
      ),
      configMap: optional(
        object(
          {
            name: text({ description: 'The name of the ConfigMap.', max: 253 }),
            key: text({ description: 'The key whose value is the source code.', max: 253, default: 'chart.js' }),
          },
          {
            description:
              'A ConfigMap in the namespace `sekisho-system` that holds the source code: a JavaScript module that exports the function `chart`.',
          },
        ),
      ),
      timeoutSeconds: integer({
        description: 'How long the chart may take to render one Application, in seconds.',
        min: 1,
        max: 30,
        default: 5,
      }),
    },
    {
      description: 'Where the code of the chart is. Exactly one of `builtIn` and `configMap` must be set.',
      rules: [exactlyOneOf(['builtIn', 'configMap'], 'set exactly one of builtIn, configMap')],
    },
  ),
  status: {
    revision: optional(
      text({
        description: 'The version of the code in use: of a built-in chart its name and number, otherwise a SHA-256 hash.',
        max: 80,
      }),
    ),
  },
  conditions: { Ready: 'The code was found and loads, so Applications can use the chart.' },
  reasons,
  columns: [
    { name: 'Built in', type: 'string', jsonPath: '.spec.builtIn' },
    { name: 'ConfigMap', type: 'string', jsonPath: '.spec.configMap.name' },
    ...readyColumns,
    ageColumn,
  ],
})

export type ApplicationChart = ObjectOf<typeof applicationChart>
