// Package iface has the types in which a server speaks of workers that it starts.
package iface

import (
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
)

// As the module that this one stands in for has them.
type (
	ComputeProviderType  string
	ScalingAlgorithmType string
	ValidationResult     string

	ComputeProviderSpec struct {
		ProviderType  ComputeProviderType `json:"provider_type,omitempty"`
		Config        *common.Payload     `json:"config,omitempty"`
		NexusEndpoint string              `json:"nexus_endpoint,omitempty"`
	}
	ScalingAlgorithmSpec struct {
		ScalingAlgorithm ScalingAlgorithmType `json:"scaling_algorithm,omitempty"`
		Config           *common.Payload      `json:"config,omitempty"`
	}
	ScalingGroupSpec struct {
		TaskTypes []enums.TaskQueueType `json:"task_types"`
		Compute   ComputeProviderSpec   `json:"compute"`
		Scaling   *ScalingAlgorithmSpec `json:"scaling,omitempty"`
	}
	ScalingGroupSpecUpdate struct {
		Spec       ScalingGroupSpec `json:"spec"`
		UpdateMask []string         `json:"update_mask"`
	}
	WorkerControllerInstanceSpec struct {
		ScalingGroupSpecs map[string]ScalingGroupSpec `json:"scaling_group_specs"`
	}
	ValidationStatus struct {
		LastValidationTime time.Time        `json:"last_validation_time"`
		Status             ValidationResult `json:"status"`
		ErrMessage         string           `json:"err_message,omitempty"`
	}
	QueryDescribeWorkerControllerInstanceResponse struct {
		Spec             *WorkerControllerInstanceSpec
		ValidationStatus *ValidationStatus
	}
	UpdateWorkerControllerInstanceResponse struct{ Spec *WorkerControllerInstanceSpec }
)

const ValidationResultFailed ValidationResult = "failed"
