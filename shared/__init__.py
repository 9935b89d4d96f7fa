"""What the deployed functions share; every room looks down and none sideways."""
