// The condition Autoscaling, from what the autoscalers of Kubernetes 1.34 say about themselves.
import { describe, expect, test } from 'vitest'
import type { HorizontalPodAutoscaler } from '../../../api/builtin/index.ts'
import { autoscalingCondition, measuredOf } from './autoscaling.ts'

const unable = 'the HPA was unable to compute the replica count: failed to get cpu utilization: '
const fetching = `${unable}unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: `
const absent = `${fetching}the server could not find the requested resource (get pods.metrics.k8s.io)`
const away = `${fetching}the server is currently unable to handle the request (get pods.metrics.k8s.io)`
const unmeasured = `${unable}unable to get metrics for resource cpu: no metrics returned from resource metrics API`

function autoscaler(status?: 'True' | 'False', message = '', reason = 'FailedGetResourceMetric'): HorizontalPodAutoscaler {
  const able = { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale' }
  const active = status === undefined ? [] : [{ type: 'ScalingActive', status, reason, message }]
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'shop-web' },
    status: { conditions: [able, ...active] },
  }
}

describe('an autoscaler', () => {
  test.each([
    ['measures', autoscaler('True', 'the HPA was able to compute the replica count', 'ValidMetricFound'), 'measured'],
    ['finds no API for measurements', autoscaler('False', absent), 'absent'],
    ['gets no answer', autoscaler('False', away), 'away'],
    ['has pods that were not measured', autoscaler('False', unmeasured), 'pending'],
    ['is off, because nothing is to run', autoscaler('False', 'scaling is disabled', 'ScalingDisabled'), 'pending'],
    ['is new', autoscaler(), 'pending'],
  ])('%s', (_what, object, measured) => {
    expect(measuredOf(object)).toBe(measured)
  })
})

describe('the condition', () => {
  const measured = autoscaler('True', 'x', 'ValidMetricFound')
  const wanted = { type: 'Autoscaling' }

  test('is absent without an autoscaler', () => {
    expect(autoscalingCondition([])).toBeUndefined()
  })

  test('names what is missing and the cure', () => {
    const condition = autoscalingCondition([measured, autoscaler('False', absent)])
    expect(condition).toMatchObject({ ...wanted, status: 'False', reason: 'MetricsMissing' })
    expect(condition?.message).toMatch(/the cluster has no metrics server: a platform admin installs .*replicas in place of/)
    expect(autoscalingCondition([autoscaler('False', away)])?.message).toMatch(
      /the metrics server of the cluster does not answer/,
    )
  })

  test('is unknown while pods are new, and says nothing of what was not observed', () => {
    expect(autoscalingCondition([measured, undefined])).toMatchObject({ status: 'Unknown', reason: 'LoadNotMeasuredYet' })
    expect(autoscalingCondition([autoscaler('False', unmeasured)])).toMatchObject({ status: 'Unknown' })
  })

  test('is true when all of them measure', () => {
    expect(autoscalingCondition([measured, measured])).toMatchObject({ ...wanted, status: 'True', reason: 'LoadMeasured' })
  })
})
